/** The OpenAPI document of the admin API, `GET /openapi.json` of its port. */
import { MAX_AUDIT_LINES } from "../counters/counter-admin.ts";
import type { JsonObject } from "../protocol/messages.ts";
import { DEFAULT_PAGE, MOST_CHARACTERS, MOST_NAME, MOST_PAGE, MOST_REASON } from "./read-request.ts";

const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });
const json = (schema: JsonObject) => ({ content: { "application/json": { schema } } });
const answer = (description: string, schema: JsonObject) => ({ description, ...json(schema) });
const problem = (description: string) => ({
  description,
  content: { "application/problem+json": { schema: ref("Problem") } },
});

/** Answers of every operation. */
const faults = {
  400: problem("The request is invalid. `errors` names the field."),
  401: problem("The request has no valid credential."),
  default: problem(
    "Another fault: a `Host` or `Origin` that is not allowed (403), a body that is too large (413).",
  ),
};
const storeFaults = {
  501: problem("The store, or the kind of the limit, does not support this."),
  503: problem(
    "The store failed, or no rules are loaded. `done` lists the steps that the change completed before.",
  ),
};
const noLimit = { 404: problem("No rule limits this descriptor.") };

function object(
  description: string,
  properties: JsonObject,
  required: readonly string[] = Object.keys(properties),
): JsonObject {
  return {
    type: "object",
    ...(description !== "" && { description }),
    properties,
    ...(required.length > 0 && { required: [...required] }),
    additionalProperties: false,
  };
}

const text = { type: "string" };
const count = { type: "integer", minimum: 0 };
const time = { type: "string", format: "date-time" };

const parameter = (name: string, description: string, schema: JsonObject, required = false) => ({
  name,
  in: "query",
  description,
  ...(required && { required }),
  schema,
});

const id = {
  name: "id",
  in: "path",
  required: true,
  description: "Chosen by the operator, or `grant-...`.",
  schema: { type: "string", pattern: "^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$" },
};

const DESCRIPTOR_TEXT = "`key=value,key2=value2`, with `\\,` for a comma inside a value.";
const limitName = {
  ...text,
  maxLength: MOST_NAME,
  description:
    "If the rule has several limits: the name of one, or its unit with the multiplier (`15_minute`).",
};
const reason = { ...text, maxLength: MOST_REASON, description: "For the audit log." };

const target = {
  domain: { ...text, minLength: 1, maxLength: MOST_CHARACTERS, description: "The domain of the rules." },
  descriptor: {
    description: `${DESCRIPTOR_TEXT} Or a list of entries.`,
    oneOf: [text, { type: "array", items: ref("Entry"), minItems: 1, maxItems: 32 }],
  },
};
const shown = {
  domain: { ...text, description: "The domain of the rules." },
  descriptor: { ...text, description: DESCRIPTOR_TEXT },
};

function change(summary: string, request: string, response: JsonObject, responses: JsonObject): JsonObject {
  return {
    summary,
    requestBody: { required: true, ...json(ref(request)) },
    responses: {
      200: answer("Done. All threads of this replica use it.", response),
      ...faults,
      415: problem("The body is not JSON by its content type."),
      ...responses,
    },
  };
}

const counterProperties = {
  name: { ...text, description: "The name of the limit, if the rule has several." },
  algorithm: {
    ...text,
    enum: ["fixed_window", "sliding_window", "token_bucket"],
    description: "The algorithm of the limit.",
  },
  limit: { ...count, description: "The limit now, with overrides and grants." },
  burst: { ...count, description: "The size of a token bucket." },
  granted: { ...count, description: "Tokens of a grant that are left." },
  seconds: { ...count, description: "The length of the window." },
  key: { ...text, description: "The key in the store." },
  count: {
    ...count,
    description: "Hits that were counted, rounded up. Those of open reservations are in `holds`.",
  },
  holds: { ...count, description: "Hits that open reservations hold." },
  remaining: { ...count, description: "Hits that still pass." },
  window: ref("Window"),
  resetSeconds: {
    ...count,
    description: "Seconds until the limit is unused. For sliding windows and token buckets.",
  },
};
const counterRequired = ["algorithm", "limit", "seconds", "key", "count", "remaining"];
const notes = {
  type: "array",
  items: text,
  description: "The changes by overrides and grants, in words.",
};

export const adminDocument: JsonObject = {
  openapi: "3.1.0",
  info: {
    title: "Tollgate admin API",
    version: "1",
    description: "Counters, grants, overrides and the audit log.",
  },
  security: [{ token: [] }],
  paths: {
    "/admin/v1/counters": {
      get: {
        summary: "Shows the counters of one descriptor, or searches by the beginning of descriptors.",
        parameters: [
          parameter("domain", "The domain of the rules. A search without it covers all domains.", text),
          parameter("descriptor", `One descriptor: ${DESCRIPTOR_TEXT}`, text),
          parameter("prefix", "The beginning of the descriptors to search.", {
            ...text,
            maxLength: MOST_CHARACTERS,
          }),
          parameter("limit", "Counters of one page.", {
            type: "integer",
            minimum: 1,
            maximum: MOST_PAGE,
            default: DEFAULT_PAGE,
          }),
          parameter("next", "`next` of the previous page.", text),
        ],
        responses: {
          200: answer("The counters.", { oneOf: [ref("Counters"), ref("Found")] }),
          ...faults,
          ...noLimit,
          ...storeFaults,
        },
      },
    },
    "/admin/v1/counters/reset": {
      post: change("Sets the counters of a descriptor back to unused.", "Reset", ref("Change"), {
        ...noLimit,
        ...storeFaults,
      }),
    },
    "/admin/v1/counters/grant": {
      post: change(
        "Grants hits above a limit until its window ends. A sliding window has them for its length. A token bucket gets them once.",
        "Grant",
        ref("Change"),
        { ...noLimit, 409: problem("There are too many overrides and grants."), ...storeFaults },
      ),
    },
    "/admin/v1/overrides": {
      get: {
        summary: "Lists all overrides and grants.",
        responses: {
          200: answer(
            "The overrides and grants.",
            object("", { overrides: { type: "array", items: ref("Override") } }),
          ),
          ...faults,
          ...storeFaults,
        },
      },
    },
    "/admin/v1/overrides/{id}": {
      parameters: [id],
      get: {
        summary: "Shows one override or grant.",
        responses: {
          200: answer("The override or grant.", ref("Override")),
          ...faults,
          404: problem("No override or grant has this id."),
          ...storeFaults,
        },
      },
      put: change(
        "Sets an override: another limit for one descriptor. Replaces one with the same id.",
        "SetOverride",
        ref("Override"),
        {
          ...noLimit,
          409: problem("Another override changes this limit, or there are too many."),
          ...storeFaults,
        },
      ),
      delete: {
        summary: "Removes an override or a grant.",
        requestBody: json(object("", { reason }, [])),
        responses: {
          200: answer("The removed override or grant.", ref("Override")),
          ...faults,
          404: problem("No override or grant has this id."),
          ...storeFaults,
        },
      },
    },
    "/admin/v1/audit": {
      get: {
        summary: "Lists changes, the newest first.",
        parameters: [
          parameter("limit", "Changes at most.", {
            type: "integer",
            minimum: 1,
            maximum: MAX_AUDIT_LINES,
            default: 100,
          }),
        ],
        responses: {
          200: answer("The changes.", object("", { changes: { type: "array", items: ref("AuditEntry") } })),
          ...faults,
          ...storeFaults,
        },
      },
    },
  },
  components: {
    securitySchemes: {
      token: {
        type: "http",
        scheme: "bearer",
        description: "Instead of it, or besides it, a client certificate.",
      },
    },
    schemas: {
      Entry: object("", { key: { ...text, minLength: 1 }, value: text }),
      Counters: object("", { ...shown, limits: { type: "array", items: ref("Counter") }, notes }, [
        "domain",
        "descriptor",
        "limits",
      ]),
      Counter: object("One limit with its counter.", counterProperties, counterRequired),
      Window: object("The current window of a fixed window.", {
        unit: { ...text, description: "The unit, with its multiplier.", examples: ["15 MINUTE"] },
        start: { ...count, description: "Seconds since the epoch." },
        end: { ...count, description: "Seconds since the epoch." },
      }),
      Found: object(
        "",
        {
          counters: {
            type: "array",
            items: { oneOf: [ref("FoundCounter"), ref("FoundKey")] },
            description: "The counters of this page.",
          },
          next: { ...text, description: "Pass it to the next request. Absent on the last page." },
        },
        ["counters"],
      ),
      FoundCounter: object("A counter with its descriptor.", { ...shown, ...counterProperties }, [
        ...Object.keys(shown),
        ...counterRequired,
      ]),
      FoundKey: object("A counter whose rule is unknown.", {
        key: { ...text, description: "The key in the store." },
        count: { type: "integer", description: "The value in the store." },
      }),
      Reset: object("", { ...target, reason }, ["domain", "descriptor"]),
      Grant: object(
        "",
        {
          ...target,
          limit: limitName,
          hits: {
            type: "integer",
            minimum: 1,
            maximum: Number.MAX_SAFE_INTEGER,
            description: "Hits above the limit. At most 1,000,000,000 for a token bucket.",
          },
          reason,
        },
        ["domain", "descriptor", "hits"],
      ),
      Change: object(
        "The counters before and after a change.",
        {
          ...shown,
          before: { type: "array", items: ref("Counter"), description: "Before the change." },
          limits: { type: "array", items: ref("Counter"), description: "After the change." },
          notes,
        },
        ["domain", "descriptor", "before", "limits"],
      ),
      SetOverride: object(
        "",
        {
          ...target,
          limit: limitName,
          requestsPerUnit: {
            ...count,
            maximum: Number.MAX_SAFE_INTEGER,
            description: "The new limit. 0 refuses every request.",
          },
          unlimited: { type: "boolean", description: "No limit, instead of `requestsPerUnit`." },
          burst: {
            type: "integer",
            minimum: 1,
            maximum: 1_000_000_000,
            description: "The size of a token bucket. Without it, that of the rule.",
          },
          expires: { ...time, description: "The end of the override. Without it, the override stays." },
          reason,
        },
        ["domain", "descriptor"],
      ),
      Override: object(
        "",
        {
          id: { ...text, description: "The id in the path, or `grant-...`." },
          kind: { ...text, enum: ["override", "grant"], description: "An override or a grant." },
          ...shown,
          limit: limitName,
          requestsPerUnit: { ...count, description: "The limit." },
          unlimited: { type: "boolean", description: "No limit." },
          burst: { ...count, description: "The size of a token bucket." },
          hits: { ...count, description: "The hits of a grant." },
          expires: { ...time, description: "The time at which it ends." },
          by: { ...text, description: "The operator who set it." },
          at: { ...time, description: "The time at which it was set." },
          reason,
          effect: {
            type: "array",
            items: text,
            description: "The effect in words. Absent if no rule limits the descriptor now.",
          },
        },
        ["id", "kind", "domain", "descriptor", "by", "at"],
      ),
      AuditEntry: object(
        "One change.",
        {
          time: { ...time, description: "The time of the change." },
          who: { ...text, description: "The operator." },
          what: {
            ...text,
            enum: ["counters.reset", "counters.grant", "overrides.set", "overrides.remove"],
            description: "The call.",
          },
          target: { type: "object", description: "The changed counters or override." },
          before: { description: "The state before the change. null if there was none." },
          after: { description: "The state after the change. null if there is none." },
          reason,
        },
        ["time", "who", "what", "target", "before", "after"],
      ),
      Problem: {
        type: "object",
        description: "Problem details (RFC 9457).",
        properties: {
          type: { ...text, description: "A URI. `about:blank`: the status is the kind of problem." },
          title: { ...text, description: "The name of the status." },
          status: { type: "integer", description: "The status of the answer." },
          detail: { ...text, description: "A description of the fault." },
          code: { ...text, description: "The error code, if there is one." },
          errors: {
            type: "array",
            items: object("", { in: text, name: text, message: text }),
            description: "The fields that are wrong.",
          },
          done: {
            type: "array",
            items: text,
            description: "The steps that a change completed before it failed.",
          },
        },
      },
    },
  },
};

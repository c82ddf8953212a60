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
  501: problem("The store or the rule does not allow it."),
  503: problem("The store failed, or no rules are loaded. `done` has what was done before."),
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
  description: "Of a list: the name of the limit, or its unit with the multiplier (`15_minute`).",
};
const reason = { ...text, maxLength: MOST_REASON, description: "For the audit log." };

const target = {
  domain: { ...text, minLength: 1, maxLength: MOST_CHARACTERS },
  descriptor: {
    description: `${DESCRIPTOR_TEXT} Or a list of entries.`,
    oneOf: [text, { type: "array", items: ref("Entry"), minItems: 1, maxItems: 32 }],
  },
};
const shown = { domain: text, descriptor: { ...text, description: DESCRIPTOR_TEXT } };

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
  name: { ...text, description: "Of a limit in a list." },
  algorithm: { ...text, enum: ["fixed_window", "sliding_window", "token_bucket"] },
  limit: { ...count, description: "The effective limit: with overrides and grants." },
  burst: { ...count, description: "The size of a token bucket." },
  granted: { ...count, description: "Tokens left above the bucket that an operator granted." },
  seconds: { ...count, description: "Length of the window." },
  key: { ...text, description: "The key in the store." },
  count: { ...count, description: "Hits in use, rounded up, without those that open reservations hold." },
  holds: { ...count, description: "Hits that open reservations hold." },
  remaining: count,
  window: ref("Window"),
  resetSeconds: {
    ...count,
    description: "Until the limit is unused, for limits without a window of their own.",
  },
};
const counterRequired = ["algorithm", "limit", "seconds", "key", "count", "remaining"];
const notes = {
  type: "array",
  items: text,
  description: "What overrides and grants change, in words.",
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
        summary: "The counters of one descriptor, or a search by the beginning of descriptors.",
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
          parameter("next", "From the last page.", text),
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
        "Raises a limit by some hits until its window ends. A sliding window has them for its length; a token bucket gets them once.",
        "Grant",
        ref("Change"),
        { ...noLimit, 409: problem("There are too many overrides and grants."), ...storeFaults },
      ),
    },
    "/admin/v1/overrides": {
      get: {
        summary: "All overrides and grants.",
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
        summary: "One override or grant.",
        responses: {
          200: answer("The override or grant.", ref("Override")),
          ...faults,
          404: problem("There is none with this id."),
          ...storeFaults,
        },
      },
      put: change("Sets another limit for one descriptor, or replaces it.", "SetOverride", ref("Override"), {
        ...noLimit,
        409: problem("Another override changes this limit, or there are too many."),
        ...storeFaults,
      }),
      delete: {
        summary: "Removes an override or a grant.",
        requestBody: json(object("", { reason }, [])),
        responses: {
          200: answer("What was removed.", ref("Override")),
          ...faults,
          404: problem("There is none with this id."),
          ...storeFaults,
        },
      },
    },
    "/admin/v1/audit": {
      get: {
        summary: "The newest changes, newest first.",
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
      Window: object("Of a fixed window.", {
        unit: { ...text, examples: ["15 MINUTE"] },
        start: { ...count, description: "Seconds since the epoch." },
        end: count,
      }),
      Found: object(
        "",
        {
          counters: { type: "array", items: { oneOf: [ref("FoundCounter"), ref("FoundKey")] } },
          next: { ...text, description: "Pass it to the following request. Absent at the end." },
        },
        ["counters"],
      ),
      FoundCounter: object("A counter with its descriptor.", { ...shown, ...counterProperties }, [
        ...Object.keys(shown),
        ...counterRequired,
      ]),
      FoundKey: object("A counter whose rule is not known.", { key: text, count: { type: "integer" } }),
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
            description: "At most 1,000,000,000 for a token bucket.",
          },
          reason,
        },
        ["domain", "descriptor", "hits"],
      ),
      Change: object(
        "The counters before and after a change.",
        {
          ...shown,
          before: { type: "array", items: ref("Counter") },
          limits: { type: "array", items: ref("Counter") },
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
            description: "0 suspends the caller.",
          },
          unlimited: { type: "boolean", description: "Instead of `requestsPerUnit`." },
          burst: {
            type: "integer",
            minimum: 1,
            maximum: 1_000_000_000,
            description: "Of a token bucket. Default: that of the rule.",
          },
          expires: { ...time, description: "Absent: no end." },
          reason,
        },
        ["domain", "descriptor"],
      ),
      Override: object(
        "",
        {
          id: text,
          kind: { ...text, enum: ["override", "grant"] },
          ...shown,
          limit: limitName,
          requestsPerUnit: count,
          unlimited: { type: "boolean" },
          burst: count,
          hits: { ...count, description: "Of a grant." },
          expires: time,
          by: { ...text, description: "The operator." },
          at: time,
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
          time,
          who: { ...text, description: "The operator." },
          what: { ...text, enum: ["counters.reset", "counters.grant", "overrides.set", "overrides.remove"] },
          target: { type: "object" },
          before: { description: "The state before the change; null for none." },
          after: { description: "The state after the change; null for none." },
          reason,
        },
        ["time", "who", "what", "target", "before", "after"],
      ),
      Problem: {
        type: "object",
        description: "RFC 9457.",
        properties: {
          type: text,
          title: text,
          status: { type: "integer" },
          detail: text,
          code: text,
          errors: { type: "array", items: object("", { in: text, name: text, message: text }) },
          done: { type: "array", items: text, description: "What a change has done before it failed." },
        },
      },
    },
  },
};

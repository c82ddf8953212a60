/** The OpenAPI document of the HTTP port, `GET /openapi.json`. */
import type { JsonObject } from "../protocol/messages.ts";

const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });

const problem = {
  description: "The call is invalid, or Tollgate cannot answer it now.",
  content: { "application/problem+json": { schema: ref("Problem") } },
};

const plain = (description: string) => ({
  description,
  content: { "text/plain": { schema: { type: "string" } } },
});

interface Operation {
  readonly summary: string;
  readonly description?: string;
  readonly request: string;
  readonly response: string;
  /** The meaning of 200. */
  readonly answered: string;
  /** The meaning of 429. */
  readonly refused?: string;
}

function operation({ summary, description, request, response, answered, refused }: Operation): JsonObject {
  const json = (name: string) => ({ "application/json": { schema: ref(name) } });
  return {
    post: {
      summary,
      ...(description !== undefined && { description }),
      requestBody: { required: true, content: json(request) },
      responses: {
        200: { description: answered, content: json(response) },
        ...(refused !== undefined && { 429: { description: refused, content: json(response) } }),
        default: problem,
      },
    },
  };
}

function object(properties: JsonObject, required: readonly string[] = []): JsonObject {
  return { type: "object", properties, ...(required.length > 0 && { required: [...required] }) };
}

const text = { type: "string" };
const count = { type: "integer", minimum: 0 };
const codes = { type: "string", enum: ["OK", "OVER_LIMIT"], description: "The decision." };

function amount(description: string, minimum: number): JsonObject {
  return {
    description: `${description} A number above 2^53 - 1 is an error.`,
    oneOf: [
      { type: "integer", minimum, maximum: Number.MAX_SAFE_INTEGER },
      { type: "string", pattern: "^[0-9]{1,16}$" },
    ],
  };
}

const target = {
  domain: { ...text, description: "The domain of the rules." },
  descriptors: { type: "array", minItems: 1, items: ref("Descriptor") },
};

const limit = {
  requestsPerUnit: { ...count, description: "Hits that pass in one unit." },
  unit: { ...text, examples: ["MINUTE"] },
  unitMultiplier: { ...count, description: "Units of one period. Absent means 1." },
};

/** Names are those of proto3's JSON mapping; the original names, `reservation_id`, are accepted, too. */
export const openApiDocument: JsonObject = {
  openapi: "3.1.0",
  info: { title: "Tollgate", version: "1", description: "Rate limit decisions and token budgets." },
  paths: {
    "/json": operation({
      summary: "Decides a request and counts its hits.",
      request: "RateLimitRequest",
      response: "RateLimitResponse",
      answered: "The request may pass.",
      refused: "The request exceeds a limit.",
    }),
    "/v1/check": operation({
      summary: "Says whether a request would pass. Counts nothing.",
      description: "Asks for `hitsAddend` hits, at least one, beside those that open reservations hold.",
      request: "RateLimitRequest",
      response: "RateLimitResponse",
      answered: "The request would pass.",
      refused: "The request would exceed a limit.",
    }),
    "/v1/report": operation({
      summary: "Counts hits, even beyond the limit.",
      request: "RateLimitRequest",
      response: "RateLimitResponse",
      answered: "The hits are counted.",
    }),
    "/v1/reserve": operation({
      summary: "Reserves an amount until the commit, in all counters or in none.",
      request: "ReserveRequest",
      response: "ReserveResponse",
      answered: "The amount is reserved.",
      refused:
        "The amount exceeds a limit. If a counter has too many open reservations, the answer is a problem instead.",
    }),
    "/v1/commit": operation({
      summary: "Ends a reservation, and counts what the request has cost, even beyond the limit.",
      request: "CommitRequest",
      response: "CommitResponse",
      answered: "The cost is counted.",
    }),
    "/healthcheck": {
      get: {
        summary: "Says whether the service is healthy.",
        responses: {
          200: plain("The service is healthy."),
          503: plain("It is not: one line for each component that fails."),
        },
      },
    },
  },
  components: {
    schemas: {
      Entry: object({
        key: { ...text, description: "The key of a level of the rules, or the name of a header." },
        value: { ...text, description: "The value that the rule counts, or that of the header." },
      }),
      Descriptor: object({
        entries: { type: "array", items: ref("Entry"), description: "Rules match them in this order." },
        hitsAddend: { ...count, description: "Hits of this descriptor. Ignored by reserve and commit." },
        isNegativeHits: { type: "boolean", description: "Refunds the hits. Not in reserve and commit." },
        limit: {
          ...object(limit),
          description: "A limit instead of that of the rules. Not in reserve and commit.",
        },
      }),
      RateLimitRequest: object(
        { ...target, hitsAddend: { ...count, description: "Hits of the other descriptors; 0 means 1." } },
        ["domain", "descriptors"],
      ),
      RateLimitResponse: object({
        overallCode: { ...codes, description: "OVER_LIMIT if a descriptor is over its limit." },
        statuses: {
          type: "array",
          items: ref("Status"),
          description: "One for each descriptor, in its order.",
        },
        responseHeadersToAdd: {
          type: "array",
          items: ref("Entry"),
          description: "The rate limit headers, if the service is set to send them.",
        },
        dynamicMetadata: {
          type: "object",
          description: "Metadata for the gateway, if the service is set to send it.",
        },
      }),
      Status: object({
        code: codes,
        currentLimit: {
          ...object({ name: text, ...limit }),
          description: "The limit of the descriptor. Absent if no rule matches.",
        },
        limitRemaining: { ...count, description: "Hits that would still pass. Absent means 0." },
        durationUntilReset: {
          ...text,
          description: "Time until the counter of the limit resets.",
          examples: ["60s"],
        },
      }),
      ReserveRequest: object(
        {
          ...target,
          amount: amount(
            "The most that the request may cost. The service may reserve less of a small limit.",
            1,
          ),
          ttl: {
            ...text,
            description: "The reservation ends by itself after this time. At most an hour.",
            examples: ["10s"],
          },
        },
        ["domain", "descriptors", "amount"],
      ),
      ReserveResponse: object(
        {
          code: codes,
          reservationId: {
            ...text,
            description: "Pass it to the commit. Only with OK. Absent if nothing can be reserved now.",
          },
          reservedAmount: { ...text, description: "The reserved amount.", examples: ["250"] },
        },
        ["code"],
      ),
      CommitRequest: object(
        {
          ...target,
          reservationId: { ...text, description: "Without it the call only counts.", maxLength: 256 },
          actualAmount: amount("The actual cost of the request.", 0),
        },
        ["domain", "descriptors"],
      ),
      CommitResponse: object(
        {
          reservationReleased: {
            type: "boolean",
            description: "False if the reservation had ended before.",
          },
        },
        ["reservationReleased"],
      ),
      Problem: object({
        type: { ...text, description: "A URI. `about:blank`: the status is the kind of problem." },
        title: { ...text, description: "The name of the status." },
        status: { type: "integer", description: "The status of the answer." },
        detail: { ...text, description: "A description of the fault." },
        errors: {
          type: "array",
          items: object({ in: text, name: text, message: text }),
          description: "The fields that are wrong.",
        },
      }),
    },
  },
};

/** The OpenAPI document of the HTTP port, `GET /openapi.json`. */
import type { JsonObject } from "../protocol/messages.ts";

const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });

const problem = {
  description: "The call is invalid, or cannot be answered now.",
  content: { "application/problem+json": { schema: ref("Problem") } },
};

const plain = (description: string) => ({
  description,
  content: { "text/plain": { schema: { type: "string" } } },
});

function operation(summary: string, request: string, response: string, refusal?: string): JsonObject {
  const json = (name: string) => ({ "application/json": { schema: ref(name) } });
  return {
    post: {
      summary,
      requestBody: { required: true, content: json(request) },
      responses: {
        200: { description: "Answered.", content: json(response) },
        ...(refusal !== undefined && { 429: { description: refusal, content: json(response) } }),
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
const codes = { type: "string", enum: ["OK", "OVER_LIMIT"] };

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
    "/json": operation(
      "Decides a request and counts its hits.",
      "RateLimitRequest",
      "RateLimitResponse",
      "Over the limit.",
    ),
    "/v1/check": operation(
      "Whether max(1, hitsAddend) more hits would pass beside the open reservations. Counts nothing.",
      "RateLimitRequest",
      "RateLimitResponse",
      "They would be refused.",
    ),
    "/v1/report": operation("Counts hits, also beyond the limit.", "RateLimitRequest", "RateLimitResponse"),
    "/v1/reserve": operation(
      "Holds an amount of the limits until its commit, in all counters or in none.",
      "ReserveRequest",
      "ReserveResponse",
      "Refused: over the limit, or, as a problem, a counter with too many open reservations.",
    ),
    "/v1/commit": operation(
      "Releases what a reservation holds, and counts what the request has cost, also beyond the limit.",
      "CommitRequest",
      "CommitResponse",
    ),
    "/healthcheck": {
      get: {
        summary: "Whether the service is healthy.",
        responses: { 200: plain("Healthy."), 503: plain("Not healthy.") },
      },
    },
  },
  components: {
    schemas: {
      Entry: object({ key: text, value: text }),
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
          amount: amount("What the request may cost. The service may hold less of a small limit.", 1),
          ttl: {
            ...text,
            description: "After this time the reservation ends by itself. At most an hour.",
            examples: ["10s"],
          },
        },
        ["domain", "descriptors", "amount"],
      ),
      ReserveResponse: object(
        {
          code: codes,
          reservationId: { ...text, description: "Only with OK. Absent if nothing can be held at present." },
          reservedAmount: { ...text, description: "What the service holds.", examples: ["250"] },
        },
        ["code"],
      ),
      CommitRequest: object(
        {
          ...target,
          reservationId: { ...text, description: "Without it the call only counts.", maxLength: 256 },
          actualAmount: amount("What the request has cost.", 0),
        },
        ["domain", "descriptors"],
      ),
      CommitResponse: object(
        {
          reservationReleased: {
            type: "boolean",
            description: "Whether the reservation was open: its time to live had not passed.",
          },
        },
        ["reservationReleased"],
      ),
      Problem: object({
        type: text,
        title: text,
        status: { type: "integer" },
        detail: text,
        errors: { type: "array", items: object({ in: text, name: text, message: text }) },
      }),
    },
  },
};

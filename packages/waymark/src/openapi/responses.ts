import { REASONS } from "../http/status.ts";
import type { MethodSignature, ProblemNode, TypeNode } from "../signature/model/signature.ts";
import type { JsonSchema, MediaType, OpenApiResponse, Reference, Spec } from "./document-types.ts";
import { type SchemaContext, schemaOf } from "./json-schema.ts";

/** RFC 9457 problem details with the faults of a request's arguments. */
export const PROBLEM_DETAILS: JsonSchema = {
  type: "object",
  title: "Problem details (RFC 9457)",
  properties: {
    type: { type: "string", format: "uri-reference", default: "about:blank" },
    title: { type: "string" },
    status: { type: "integer", minimum: 400, maximum: 599 },
    detail: { type: "string" },
    instance: { type: "string", format: "uri-reference" },
    errors: {
      type: "array",
      description: "All faults of the request's arguments",
      items: {
        type: "object",
        properties: {
          in: { type: "string", enum: ["path", "query", "body"] },
          name: { type: "string", description: "The argument with the path into it: `point.x`" },
          message: { type: "string" },
        },
        required: ["in", "name", "message"],
      },
    },
  },
  required: ["type", "title", "status"],
};

const COMMON: JsonSchema = { $ref: "#/components/schemas/ProblemDetails" };

export const PROBLEM_RESPONSE: OpenApiResponse = {
  description: "An error, as problem details",
  content: { "application/problem+json": { schema: COMMON } },
};

const PROBLEM_REFERENCE = { $ref: "#/components/responses/Problem" } as const;

/**
 * The responses of a method by status, from its declared return type, the statuses that it sets, and those of its guard's
 * refusals.
 */
export function responsesOf(
  { returns, statuses = ["default"] }: Pick<MethodSignature, "returns" | "statuses">,
  schemas: SchemaContext,
  spec: Spec = "3.1",
  refusals: readonly number[] = [],
): { readonly [status: string]: OpenApiResponse | Reference } {
  const context: ResponseContext = { ...schemas, spec };
  const responses: Record<string, OpenApiResponse> = {};
  for (const status of statuses) {
    if (status === "default") Object.assign(responses, defaultResponses(returns, context));
    else responses[status] = BODILESS.has(status) ? EMPTY : responseOf(returns, context);
  }
  return {
    ...responses,
    ...problemsOf(returns, refusals, context),
    "4XX": PROBLEM_REFERENCE,
    "5XX": PROBLEM_REFERENCE,
  };
}

/** The problems that the method and its guard return, by status. */
function problemsOf(
  returns: TypeNode | undefined,
  refusals: readonly number[],
  context: SchemaContext,
): { readonly [status: string]: OpenApiResponse } {
  const schemas = new Map<number, JsonSchema[]>(refusals.map((status) => [status, [COMMON]]));
  for (const member of returns ? membersOf(returns) : []) {
    if (member.kind !== "problem" || member.status === undefined) continue;
    const own = schemas.get(member.status) ?? [];
    own.push(problemSchema(member, context));
    schemas.set(member.status, own);
  }
  return Object.fromEntries(
    [...schemas].map(([status, own]) => [
      status,
      {
        description: REASONS[status] ?? "An error",
        content: { "application/problem+json": { schema: own.length === 1 ? own[0]! : { anyOf: own } } },
      },
    ]),
  );
}

function problemSchema({ members }: ProblemNode, context: SchemaContext): JsonSchema {
  return members === undefined ? COMMON : { allOf: [COMMON, schemaOf(members, context)] };
}

interface ResponseContext extends SchemaContext {
  readonly spec: Spec;
}

const EMPTY: OpenApiResponse = { description: "Success, without a body" };
/** Statuses without a body (RFC 9110, section 15.3). */
const BODILESS: ReadonlySet<number> = new Set([204, 205]);

const membersOf = (type: TypeNode): readonly TypeNode[] => (type.kind === "union" ? type.members : [type]);

/** The members that a success carries. */
const sentOf = (type: TypeNode): readonly TypeNode[] =>
  membersOf(type).filter(({ kind }) => kind !== "problem" && kind !== "never");

const isEmpty = ({ kind }: TypeNode): boolean => kind === "undefined" || kind === "null";

function defaultResponses(
  returns: TypeNode | undefined,
  context: ResponseContext,
): { readonly [status: string]: OpenApiResponse } {
  const members = returns ? sentOf(returns) : [];
  // The method only fails.
  if (returns && members.length === 0) return {};
  if (returns && members.every(isEmpty)) return { 204: EMPTY };
  return { 200: responseOf(returns, context), ...(members.some(isEmpty) && { 204: EMPTY }) };
}

function responseOf(returns: TypeNode | undefined, context: ResponseContext): OpenApiResponse {
  const full = returns ? sentOf(returns).filter((member) => !isEmpty(member)) : [];
  if (returns && full.length === 0) return EMPTY;
  return { description: "Success", ...(returns && { content: contentOf(full, context) }) };
}

function contentOf(
  members: readonly TypeNode[],
  context: ResponseContext,
): { readonly [mediaType: string]: MediaType } {
  const content: Record<string, MediaType> = {};
  const json = members.filter((member) => !mediaTypesOf(member));
  if (json.length > 0) {
    const type: TypeNode = json.length === 1 ? json[0]! : { kind: "union", members: json };
    content["application/json"] = { schema: schemaOf(type, context) };
  }
  for (const member of members) {
    for (const mediaType of mediaTypesOf(member) ?? []) {
      content[mediaType] = member.kind === "stream" ? itemsOf(member.items, mediaType, context) : {};
    }
  }
  return content;
}

/**
 * The fields of an event besides its data. Any stream may yield a `ServerSentEvent`. A reader sees no event without data
 * (HTML, section 9.2.6).
 */
const EVENT_FIELDS = {
  event: { type: "string", default: "message" },
  id: { type: "string" },
  retry: { type: "integer", minimum: 0 },
} as const;

/** The items of a stream. OpenAPI 3.1 has no field for them, and its readers take `schema` for it. */
function itemsOf(items: TypeNode, mediaType: string, context: ResponseContext): MediaType {
  if (isRaw(items)) return {};
  const schema = schemaOf(items, context);
  if (context.spec === "3.1") return { schema };
  if (mediaType !== "text/event-stream") return { itemSchema: schema };
  const data = { type: "string", contentMediaType: "application/json", contentSchema: schema };
  return { itemSchema: { type: "object", properties: { ...EVENT_FIELDS, data }, required: ["data"] } };
}

/** The media types of a result that is not sent as JSON. */
function mediaTypesOf(type: TypeNode): string[] | undefined {
  if (type.kind === "bytes") return ["application/octet-stream"];
  if (type.kind === "file" || type.kind === "blob" || type.kind === "response") return ["*/*"];
  if (type.kind !== "stream") return undefined;
  return isRaw(type.items) ? ["*/*"] : ["application/x-ndjson", "text/event-stream"];
}

/** True for strings and bytes, which are streamed unchanged. */
function isRaw(items: TypeNode): boolean {
  return (
    items.kind === "string" ||
    items.kind === "bytes" ||
    items.kind === "unknown" ||
    items.kind === "unreadable"
  );
}

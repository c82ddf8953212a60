import type { TypeNode } from "../signature/model.ts";
import type { JsonSchema, MediaType, OpenApiResponse } from "./model.ts";
import { type SchemaContext, schemaOf } from "./schema.ts";

/** RFC 9457, with the faults that a request's arguments have. */
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
      description: "Everything that is wrong with the request's arguments",
      items: {
        type: "object",
        properties: {
          in: { type: "string", enum: ["path", "query", "body"] },
          name: { type: "string", description: "The argument, with the way into it: `point.x`" },
          message: { type: "string" },
        },
        required: ["in", "name", "message"],
      },
    },
  },
  required: ["type", "title", "status"],
};

export const PROBLEM_RESPONSE: OpenApiResponse = {
  description: "An error, as problem details",
  content: { "application/problem+json": { schema: { $ref: "#/components/schemas/ProblemDetails" } } },
};

export const PROBLEM_REFERENCE = { $ref: "#/components/responses/Problem" } as const;

/** The answers of a method by status, from the return type as it is written; nothing is inferred. */
export const responsesOf = (
  returns: TypeNode | undefined,
  context: SchemaContext,
): { readonly [status: string]: OpenApiResponse } => {
  if (!returns) return { 200: { description: "Success" } };
  const members = returns.kind === "union" ? returns.members : [returns];
  const empty = members.filter(({ kind }) => kind === "undefined" || kind === "null");
  const full = members.filter((member) => !empty.includes(member));
  const none: OpenApiResponse = { description: "Success, with nothing to say" };
  if (full.length === 0) return { 204: none };
  return {
    200: { description: "Success", content: contentOf(full, context) },
    ...(empty.length > 0 && { 204: none }),
  };
};

const contentOf = (
  members: readonly TypeNode[],
  context: SchemaContext,
): { readonly [mediaType: string]: MediaType } => {
  const content: Record<string, MediaType> = {};
  const json = members.filter((member) => !mediaTypesOf(member));
  if (json.length > 0) {
    const type: TypeNode = json.length === 1 ? json[0]! : { kind: "union", members: json };
    content["application/json"] = { schema: schemaOf(type, context) };
  }
  for (const member of members) {
    for (const mediaType of mediaTypesOf(member) ?? []) {
      content[mediaType] =
        member.kind === "stream" && !isRaw(member.items) ? { schema: schemaOf(member.items, context) } : {};
    }
  }
  return content;
};

/** The media types of what is not sent as JSON. */
const mediaTypesOf = (type: TypeNode): string[] | undefined => {
  if (type.kind === "bytes") return ["application/octet-stream"];
  if (type.kind === "file" || type.kind === "blob" || type.kind === "response") return ["*/*"];
  if (type.kind !== "stream") return undefined;
  return isRaw(type.items) ? ["*/*"] : ["application/x-ndjson", "text/event-stream"];
};

/** Strings and bytes are streamed as they are. */
const isRaw = (items: TypeNode): boolean =>
  items.kind === "string" ||
  items.kind === "bytes" ||
  items.kind === "unknown" ||
  items.kind === "unreadable";

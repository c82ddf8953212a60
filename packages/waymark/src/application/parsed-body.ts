import type { Call, Keywords } from "../http/call.ts";
import { HttpError } from "../http/http-error.ts";
import { decodeUtf8, parseUnchecked, refuseUnsafe } from "../http/json.ts";
import type { Binder } from "../signature/bind/binder.ts";
import { parseFields } from "../signature/bind/fields.ts";
import type { BodyInput } from "../signature/model/input.ts";

/** Parses a body that was read. Throws 400 for a malformed body. Returns a promise only for a multipart form. */
export function parseBody(
  { incoming, kind, settings, query }: Call,
  bytes: Uint8Array,
  binder: Binder,
): BodyInput | undefined | Promise<BodyInput> {
  if (bytes.length === 0) return undefined;
  if (kind === "json") {
    const text = decodeUtf8(bytes);
    const value = parseUnchecked(text);
    // One pass checks and counts most bodies. Others need a pass for their safety, and are converted.
    const members = query === "" ? binder.countMembers?.(value) : undefined;
    refuseUnsafe(text, value, members);
    return { kind: "json", value, source: bytes, isWhole: members !== undefined };
  }
  if (kind === "multipart") {
    return settings.parseMultipart(bytes, incoming.header("content-type")!).then((fields) => ({
      kind: "form",
      fields,
    }));
  }
  const fields = parseFields(decodeUtf8(bytes), "body");
  if (!Array.isArray(fields)) throw new HttpError(400, "the form body is malformed", { errors: [fields] });
  return { kind: "form", fields };
}

/**
 * The arguments of query and body for `this.keywords`. The body's value replaces the query's. Repeated names become
 * lists.
 */
export function collectKeywords(call: Call): Keywords {
  const keywords: Keywords = Object.create(null);
  const query = parseFields(call.query, "query");
  if (Array.isArray(query)) addAll(keywords, query);
  const body = call.body as BodyInput | undefined;
  if (body === undefined) return keywords;
  if (body.kind === "json") {
    const { value } = body;
    if (typeof value !== "object" || value === null || Array.isArray(value)) keywords.body = value;
    else Object.assign(keywords, value);
    return keywords;
  }
  const own: Keywords = Object.create(null);
  addAll(
    own,
    body.fields.map(([name, value]) => [
      name,
      typeof value === "string" ? value : new File([value.bytes], value.filename, { type: value.type }),
    ]),
  );
  return Object.assign(keywords, own);
}

function addAll(keywords: Keywords, fields: readonly (readonly [string, unknown])[]): void {
  for (const [name, value] of fields) {
    const before = keywords[name];
    if (before === undefined) keywords[name] = value;
    else if (Array.isArray(before)) before.push(value);
    else keywords[name] = [before, value];
  }
}

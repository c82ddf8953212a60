import { HttpError } from "./http-error.ts";
import type { Incoming } from "./incoming.ts";

/** The size limits of a body in bytes, and whether its content type matters. */
export interface BodyRules {
  readonly bodyLimit: number;
  readonly multipartLimit: number;
  /** Reads every body as JSON, whatever its content type. */
  readonly alwaysJson: boolean;
  /** Leaves every body unread, whatever its content type. */
  readonly rawBody: boolean;
}

export type BodyKind = "form" | "multipart" | "json" | "other";

/** The media type without its parameters, in lower case. */
export function mediaType(contentType: string | undefined): string {
  if (contentType === undefined) return "";
  const end = contentType.indexOf(";");
  return (end === -1 ? contentType : contentType.slice(0, end)).trim().toLowerCase();
}

export function bodyKind(contentType: string | undefined, rules: BodyRules): BodyKind {
  if (rules.rawBody) return "other";
  if (rules.alwaysJson || contentType === "application/json") return "json";
  const type = mediaType(contentType);
  if (type === "application/json" || type.endsWith("+json")) return "json";
  if (type === "application/x-www-form-urlencoded") return "form";
  if (type === "multipart/form-data") return "multipart";
  return "other";
}

/** Throws 415 for an unsupported content coding (RFC 9110 section 8.4). Only `identity` is supported. */
export function refuseEncoding(incoming: Incoming): void {
  const encoding = incoming.header("content-encoding");
  if (encoding === undefined) return;
  if (encoding.split(",").every((each) => ["", "identity"].includes(each.trim().toLowerCase()))) return;
  throw new HttpError(415, `the content encoding "${encoding.slice(0, 100)}" is not supported`, {
    headers: { "accept-encoding": "identity" },
  });
}

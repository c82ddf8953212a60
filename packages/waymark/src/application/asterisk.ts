import { type Answer, emptyAnswer } from "../http/answer.ts";
import { HttpError } from "../http/http-error.ts";
import type { Incoming } from "../http/incoming.ts";
import type { Routes } from "../routing/routes.ts";

/** `OPTIONS *` concerns the server as a whole (RFC 9110 section 9.3.7). */
export function asteriskAnswer(routes: Routes, { method }: Incoming): Answer {
  const allow = [...routes.verbs].join(", ");
  if (method === "OPTIONS") return emptyAnswer(204, ["allow", allow]);
  throw new HttpError(400, 'the request target "*" is only valid for OPTIONS');
}

import { type Answer, discard } from "../../http/answer.ts";
import { CONNECTION_HEADERS } from "../../http/headers.ts";
import { HttpError, problemAnswer } from "../../http/http-error.ts";

/** The flat headers that a gateway passes on. Undefined if one of them cannot be sent. */
export function passedHeaders(headers: readonly string[]): string[] | undefined {
  const passed: string[] = [];
  for (let at = 0; at < headers.length; at += 2) {
    const name = headers[at]!;
    const value = headers[at + 1]!;
    if (CONNECTION_HEADERS.has(name)) continue;
    if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name) || /[^\t\x20-\x7e\x80-\xff]/.test(value)) return undefined;
    passed.push(name, value);
  }
  return passed;
}

/** The answer that a gateway passes on: 500 problem details if a header cannot be sent. */
export function passableAnswer(answer: Answer, report: (error: unknown) => void): Answer {
  const headers = passedHeaders(answer.headers);
  if (headers !== undefined) return { status: answer.status, headers, body: answer.body };
  discard(answer.body);
  report(new TypeError("a header of the answer has a name or value that HTTP cannot carry"));
  return problemAnswer(new HttpError(500));
}

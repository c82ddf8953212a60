import { type Answer, emptyAnswer, isContentless } from "./answer.ts";
import { webSource } from "./body-source.ts";
import { CONNECTION_HEADERS } from "./headers.ts";
import { type AnswerContext, openStream } from "./stream.ts";

/** The codings that `fetch` decodes. It does not decode others. */
const DECODED: ReadonlySet<string> = new Set(["gzip", "x-gzip", "deflate", "br", "zstd"]);

/** The answer for a WHATWG `Response`. Adds the headers of `this.response` that the `Response` does not have. */
export function responseAnswer(response: Response, context: AnswerContext): Answer | Promise<Answer> {
  const { status } = response;
  if (status < 200) throw new TypeError(`a Response of status ${status} cannot be sent`);
  if (response.bodyUsed) throw new TypeError("the body of the returned Response has already been read");
  if (response.body?.locked === true)
    throw new TypeError("the body of the returned Response is locked by another reader");
  const headers = headersOf(response);
  const touched = context.response?.touched;
  if (touched !== undefined) {
    const names = new Set(headers.filter((_, at) => at % 2 === 0));
    for (const [name, value] of touched)
      if (name === "set-cookie" || !names.has(name)) headers.push(name, value);
  }
  const isHead = context.incoming.method === "HEAD";
  if (response.body === null) return emptyAnswer(status, headers, isHead);
  const source = webSource(response.body);
  if (isHead || isContentless(status)) {
    void source.return();
    return isHead && !isContentless(status) ? { status, headers, body: null } : emptyAnswer(status, headers);
  }
  return openStream(
    source,
    context,
    () => ({ status, headers }),
    () => undefined,
  );
}

/** The response's headers without those of another connection or another encoding of the body. */
function headersOf({ headers, url }: Response): string[] {
  const named = headers.get("connection");
  const ofConnection = named?.split(",").map((name) => name.trim().toLowerCase());
  // `fetch` decodes the body of a received response, but keeps the headers of the encoded body.
  const decoded = url !== "" && isDecoded(headers.get("content-encoding"));
  const flat: string[] = [];
  for (const [name, value] of headers) {
    if (CONNECTION_HEADERS.has(name) || ofConnection?.includes(name) === true) continue;
    if (decoded && (name === "content-encoding" || name === "content-length")) continue;
    flat.push(name, value);
  }
  return flat;
}

function isDecoded(encoding: string | null): boolean {
  if (encoding === null) return false;
  return encoding.split(",").every((each) => DECODED.has(each.trim().toLowerCase()));
}

import { type Answer, setLength } from "./answer.ts";
import { webSource } from "./body-source.ts";
import { checkStatus } from "./call.ts";
import { flatten } from "./headers.ts";
import { type AnswerContext, openStream } from "./stream.ts";

/** A blob may be a file on disk, and reading it can fail. */
export function blobAnswer(value: Blob, context: AnswerContext): Promise<Answer> {
  const head = () => {
    const status = context.response?.status ?? 200;
    checkStatus(status);
    const touched = context.response?.touched;
    const headers = touched === undefined ? [] : flatten(touched);
    setLength(headers, value.size);
    return { status, headers };
  };
  const type = value.type || "application/octet-stream";
  return openStream(webSource(value.stream()), context, head, () => type);
}

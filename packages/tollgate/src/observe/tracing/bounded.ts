/** Bounds what spans keep of a call. They wait for their exporter, so nothing here may keep a longer text alive. */
import { copyOf } from "../text-memory.ts";
import type { HeaderReader, TraceAttributes } from "./tracing.ts";

/** Characters of an attribute or an error message. */
const MAX_TEXT = 1024;
/** Characters of a header that carries a trace. Those that the standards define are shorter. */
const MAX_HEADER = 1024;

export function boundedText(text: string): string {
  return text.length <= MAX_TEXT ? text : copyOf(text, MAX_TEXT);
}

/** A copy of the attributes with bounded texts. */
export function boundedAttributes(attributes: TraceAttributes): Record<string, string | number | boolean> {
  const bounded: Record<string, string | number | boolean> = {};
  for (const [name, value] of Object.entries(attributes))
    bounded[name] = typeof value === "string" ? boundedText(value) : value;
  return bounded;
}

/** Reads a header as if it were absent where it is too long to be one of a trace. */
export function boundedHeaders(headers: HeaderReader): HeaderReader {
  return (name) => {
    const value = headers(name);
    return value !== undefined && value.length > MAX_HEADER ? undefined : value;
  };
}

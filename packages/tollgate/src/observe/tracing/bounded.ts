/** Bounds the memory of spans. Spans wait for their exporter, so they must not keep long texts alive. */
import { copyOf } from "../text-memory.ts";
import type { HeaderReader, TraceAttributes } from "./tracing.ts";

/** Maximum characters of an attribute or an error message. */
const MAX_TEXT = 1024;
/** Maximum characters of a trace header. The headers that the standards define are shorter. */
const MAX_HEADER = 1024;

export function boundedText(text: string): string {
  return text.length <= MAX_TEXT ? text : copyOf(text, MAX_TEXT);
}

/** Copies the attributes with bounded texts. */
export function boundedAttributes(attributes: TraceAttributes): Record<string, string | number | boolean> {
  const bounded: Record<string, string | number | boolean> = {};
  for (const [name, value] of Object.entries(attributes))
    bounded[name] = typeof value === "string" ? boundedText(value) : value;
  return bounded;
}

/** Treats a header as absent if it is too long for a trace header. */
export function boundedHeaders(headers: HeaderReader): HeaderReader {
  return (name) => {
    const value = headers(name);
    return value !== undefined && value.length > MAX_HEADER ? undefined : value;
  };
}

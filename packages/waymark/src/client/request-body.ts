import { scalarText, shown } from "./place-arguments.ts";

/** Methods whose keyword arguments are in the query. */
const QUERY_ONLY = /^(?:GET|HEAD|DELETE|OPTIONS)$/;

/** The keyword arguments of a call, in the query or in the body. */
export interface Carried {
  /** The query with its `?`, or empty. */
  readonly query: string;
  readonly body?: string | FormData;
  readonly type?: string;
}

/** @param hasBody whether the call has a body of its own, so that the keywords must be in the query */
export function carryKeywords(
  verb: string,
  keywords: Record<string, unknown> | undefined,
  hasBody: boolean,
  call: string,
): Carried {
  if (keywords === undefined) return { query: "" };
  if (hasBody || QUERY_ONLY.test(verb)) {
    const query = new URLSearchParams();
    for (const [name, value] of pairs(keywords))
      query.append(name, scalarText(value) ?? refuse(name, value, call));
    return { query: query.size > 0 ? `?${query}` : "" };
  }
  const values = [...pairs(keywords)];
  if (!values.some(([, value]) => isFile(value)))
    return { query: "", body: jsonText(keywords), type: "application/json" };
  const form = new FormData();
  for (const [name, value] of values) {
    if (isFile(value)) form.append(name, fileOf(value));
    else form.append(name, scalarText(value) ?? refuse(name, value, call));
  }
  return { query: "", body: form };
}

/** The names with their values. A list repeats its name. */
function* pairs(keywords: Record<string, unknown>): Generator<[name: string, value: unknown]> {
  for (const [name, given] of Object.entries(keywords))
    for (const value of Array.isArray(given) ? given : [given]) if (value !== undefined) yield [name, value];
}

function refuse(name: string, value: unknown, call: string): never {
  throw new TypeError(`${call}: ${name} is ${shown(value)}, which a query or a form cannot carry`);
}

function isFile(value: unknown): value is Blob | Uint8Array<ArrayBuffer> {
  return value instanceof Blob || value instanceof Uint8Array;
}

function fileOf(value: Blob | Uint8Array<ArrayBuffer>): Blob {
  return value instanceof Blob ? value : new Blob([value]);
}

function jsonText(value: unknown): string {
  return JSON.stringify(value, (_, each: unknown) => (typeof each === "bigint" ? String(each) : each));
}

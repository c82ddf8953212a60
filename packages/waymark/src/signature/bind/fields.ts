import { shortened } from "../convert/converter.ts";
import type { BindFault } from "./bind-faults.ts";

/** Bounds the work of one request. Real forms have fewer names. */
export const MAXIMUM_NAMES = 1_000;

const AMPERSAND = 38;
const EQUALS = 61;
const PERCENT = 37;
const PLUS = 43;

/**
 * Parses `application/x-www-form-urlencoded` text of a query or a body by the WHATWG URL standard, with two
 * exceptions: a malformed escape is a fault, and there may be at most {@link MAXIMUM_NAMES} names. A name without `=`
 * has the empty string. Names may repeat.
 */
export function parseFields(text: string, where: "query" | "body"): [string, string][] | BindFault {
  const fields: [string, string][] = [];
  const fault = readFields(text, where, { addField: (name, value) => fields.push([name, value]) });
  return fault ?? fields;
}

/** Receives fields one by one, which avoids a list. */
export interface FieldSink {
  addField(name: string, value: string): void;
}

/** {@link parseFields} into a sink. The sink also receives the fields before a fault. */
export function readFields(text: string, where: "query" | "body", sink: FieldSink): BindFault | undefined {
  let count = 0;
  const length = text.length;
  let start = 0;
  let equals = -1;
  let nameEncoded = false;
  let encoded = false;
  for (let at = 0; at <= length; at++) {
    const code = at === length ? AMPERSAND : text.charCodeAt(at);
    if (code === PERCENT || code === PLUS) {
      encoded = true;
    } else if (code === EQUALS && equals < 0) {
      equals = at;
      nameEncoded = encoded;
      encoded = false;
    } else if (code === AMPERSAND) {
      if (at > start) {
        const nameEnd = equals < 0 ? at : equals;
        const rawName = text.slice(start, nameEnd);
        const rawValue = equals < 0 ? "" : text.slice(equals + 1, at);
        const name = (equals < 0 ? encoded : nameEncoded) ? decode(rawName) : rawName;
        const value = equals >= 0 && encoded ? decode(rawValue) : rawValue;
        if (name === undefined || value === undefined) {
          return { in: where, name: shortened(name ?? rawName), message: "has a malformed percent-escape" };
        }
        if (++count > MAXIMUM_NAMES) {
          return { in: where, name: "", message: `more than ${MAXIMUM_NAMES} names` };
        }
        sink.addField(name, value);
      }
      start = at + 1;
      equals = -1;
      nameEncoded = false;
      encoded = false;
    }
  }
  return undefined;
}

function decode(text: string): string | undefined {
  const spaced = text.replaceAll("+", " ");
  try {
    return decodeURIComponent(spaced);
  } catch {
    return undefined;
  }
}

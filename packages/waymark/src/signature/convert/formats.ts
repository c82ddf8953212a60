import { INVALID } from "./converter.ts";
import { dateFromText } from "./scalars.ts";

export interface Format {
  readonly applies: "string" | "number";
  readonly expected: string;
  readonly fits: (value: unknown) => boolean;
}

function text(expected: string, fits: (value: string) => boolean): Format {
  return {
    applies: "string",
    expected,
    fits: (value) => typeof value === "string" && fits(value),
  };
}

function integer(expected: string, minimum: bigint, maximum: bigint): Format {
  return {
    applies: "number",
    expected,
    fits: (value) =>
      (typeof value === "bigint" || Number.isInteger(value)) &&
      (value as number | bigint) >= minimum &&
      (value as number | bigint) <= maximum,
  };
}

// The WHATWG's definition of a valid e-mail address, which browsers use for form validation.
const EMAIL =
  /^[\w.!#$%&'*+/=?^`{|}~-]+@[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?(?:\.[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?)*$/i;
const UUID = /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/i;
const TIME = /^(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?(?:z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/i;
const HOSTNAME = /^(?=.{1,253}$)[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?(?:\.[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?)*$/i;
/** Searches for a character outside base64. A repeated group would exhaust V8's stack on a long text. */
function isBase64(value: string): boolean {
  const padding = value.endsWith("==") ? 2 : value.endsWith("=") ? 1 : 0;
  return value.length % 4 === 0 && !/[^a-z\d+/]/i.test(padding > 0 ? value.slice(0, -padding) : value);
}

const BYTE = "(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)";
const IPV4 = new RegExp(`^${BYTE}(?:\\.${BYTE}){3}$`);
// `node:net` is not available in every runtime of a binder. The URL parser is, and it accepts every spelling.
function isIpv6(value: string): boolean {
  return value.length <= 45 && /^[\da-f:.]+$/i.test(value) && URL.canParse(`http://[${value}]/`);
}

const isDate = (value: string): boolean => value.length === 10 && dateFromText(value) !== INVALID;
function isDateTime(value: string): boolean {
  return value[10]?.toLowerCase() === "t" && TIME.test(value.slice(11)) && dateFromText(value) !== INVALID;
}

/** The names that `@format` accepts: formats of JSON Schema and OpenAPI. A few are not checked and only document. */
export const FORMATS: ReadonlyMap<string, Format> = new Map([
  ["email", text("an e-mail address", (value) => value.length <= 254 && EMAIL.test(value))],
  ["uuid", text("a UUID", (value) => UUID.test(value))],
  ["date", text("a date (YYYY-MM-DD)", isDate)],
  ["date-time", text("a date and time with offset (RFC 3339)", isDateTime)],
  ["time", text("a time with offset (RFC 3339)", (value) => TIME.test(value))],
  ["uri", text("an absolute URI", (value) => URL.canParse(value))],
  ["url", text("an absolute URL", (value) => URL.canParse(value))],
  ["hostname", text("a host name", (value) => HOSTNAME.test(value))],
  ["ipv4", text("an IPv4 address", (value) => IPV4.test(value))],
  ["ipv6", text("an IPv6 address", isIpv6)],
  ["byte", text("base64 text", isBase64)],
  ["password", text("text", () => true)],
  ["integer", integer("an integer", -(2n ** 53n), 2n ** 53n)],
  ["int32", integer("a 32-bit integer", -(2n ** 31n), 2n ** 31n - 1n)],
  ["int64", integer("a 64-bit integer", -(2n ** 63n), 2n ** 63n - 1n)],
  ["float", { applies: "number", expected: "a number", fits: () => true }],
  ["double", { applies: "number", expected: "a number", fits: () => true }],
]);

/** The number formats of integers. */
export const INTEGER_FORMATS: ReadonlySet<string> = new Set(["integer", "int32", "int64"]);

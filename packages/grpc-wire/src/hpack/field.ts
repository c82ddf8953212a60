/** A decoded header field. Header lists share the fields of the tables. */
export class HeaderField {
  readonly name: string;
  /** A `FieldKind`, or the result of `registerFieldName` for the name. */
  readonly kind: number;
  /** False when HTTP/2 forbids the name or the value (RFC 9113 section 8.2.1). */
  readonly valid: boolean;
  /** The number of octets of name and value, plus 32 (RFC 7541 section 4.1). */
  readonly size: number;
  /** The value, or the buffer with its octets until somebody reads it. */
  #value: string | Buffer;
  readonly #start: number;

  /** @param value the value, or a buffer with its octets at `[start, start + length)`, which must not change */
  constructor(name: string, kind: number, valid: boolean, value: string | Buffer, length: number, start = 0) {
    this.name = name;
    this.kind = kind;
    this.valid = valid;
    this.size = name.length + length + 32;
    this.#value = value;
    this.#start = start;
  }

  /** Octets as latin1 characters. The first use creates the text: few handlers read the trace of a call. */
  get value(): string {
    if (typeof this.#value !== "string") {
      const length = this.size - 32 - this.name.length;
      this.#value = this.#value.toString("latin1", this.#start, this.#start + length);
    }
    return this.#value;
  }
}

/** The names that have a meaning in HTTP/2, as small integers for a switch. */
export const FieldKind = {
  OTHER: 0,
  METHOD: 1,
  SCHEME: 2,
  PATH: 3,
  AUTHORITY: 4,
  OTHER_PSEUDO: 5,
  CONTENT_TYPE: 6,
  TE: 7,
  CONTENT_LENGTH: 8,
  /** Fields of HTTP/1.1 connections: forbidden (RFC 9113 section 8.2.2). */
  CONNECTION_SPECIFIC: 9,
} as const;

const kinds = new Map<string, number>([
  [":method", FieldKind.METHOD],
  [":scheme", FieldKind.SCHEME],
  [":path", FieldKind.PATH],
  [":authority", FieldKind.AUTHORITY],
  ["content-type", FieldKind.CONTENT_TYPE],
  ["te", FieldKind.TE],
  ["content-length", FieldKind.CONTENT_LENGTH],
  ["connection", FieldKind.CONNECTION_SPECIFIC],
  ["keep-alive", FieldKind.CONNECTION_SPECIFIC],
  ["proxy-connection", FieldKind.CONNECTION_SPECIFIC],
  ["transfer-encoding", FieldKind.CONNECTION_SPECIFIC],
  ["upgrade", FieldKind.CONNECTION_SPECIFIC],
]);

let nextKind = 16;

/** Assigns a new kind to a name for the layer above HTTP/2. Not for names in HPACK's static table. */
export function registerFieldName(name: string): number {
  const kind = kinds.get(name) ?? nextKind++;
  kinds.set(name, kind);
  return kind;
}

export function fieldKind(name: string): number {
  return kinds.get(name) ?? (name.charCodeAt(0) === 0x3a ? FieldKind.OTHER_PSEUDO : FieldKind.OTHER);
}

/** 1 for each octet that a field name may contain (the token characters of RFC 9110 without A-Z). */
const nameOctets = new Uint8Array(256);
for (const char of "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyz") nameOctets[char.charCodeAt(0)] = 1;

/** Whether `name` is a valid field name. The leading colon of a pseudo-header field is allowed. */
export function isValidName(name: string): boolean {
  const from = name.charCodeAt(0) === 0x3a ? 1 : 0;
  if (name.length === from) return false;
  for (let at = from; at < name.length; at++) {
    if (nameOctets[name.charCodeAt(at)] !== 1) return false;
  }
  return true;
}

/** Whether the octets `bytes[start, end)` neither begin nor end with a space or tab. */
export function hasValidEnds(bytes: Uint8Array, start: number, end: number): boolean {
  if (start === end) return true;
  const first = bytes[start];
  const last = bytes[end - 1];
  return first !== 0x20 && first !== 0x09 && last !== 0x20 && last !== 0x09;
}

/** Whether the octets `bytes[start, end)` are a valid field value: no NUL, CR or LF, and no space or tab at either end. */
export function isValidValue(bytes: Uint8Array, start: number, end: number): boolean {
  if (!hasValidEnds(bytes, start, end)) return false;
  for (let at = start; at < end; at++) {
    const octet = bytes[at]!;
    if (octet <= 0x0d && (octet === 0 || octet === 0x0a || octet === 0x0d)) return false;
  }
  return true;
}

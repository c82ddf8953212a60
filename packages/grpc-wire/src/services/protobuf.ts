/**
 * The parts of the protobuf wire format for health and reflection (protobuf.dev/programming-guides/encoding). With them, the
 * package needs no protobuf runtime.
 */

/** One field of a message: its number, and the value of a varint or the bytes of a length-delimited field. */
export interface Field {
  readonly number: number;
  readonly value: number;
  readonly bytes: Uint8Array;
}

const NONE = new Uint8Array(0);
const decoder = new TextDecoder("utf-8", { fatal: true });

/** An invalid message. */
export class DecodeError extends Error {
  readonly code = "ERR_GRPC_WIRE_DECODE";
}

/** Reads a message's fields in order. Throws a `DecodeError`. */
export function readFields(message: Uint8Array): Field[] {
  const fields: Field[] = [];
  let at = 0;
  const varint = (): number => {
    let value = 0;
    for (let factor = 1, count = 0; count < 10; count++, factor *= 128) {
      const octet = message[at++];
      if (octet === undefined) throw new DecodeError(`the message ends within a number, at byte ${at - 1}`);
      value += (octet & 0x7f) * factor;
      if (octet < 0x80) return value;
    }
    throw new DecodeError(`a number of more than 10 bytes ends at byte ${at}`);
  };
  const take = (length: number): Uint8Array => {
    if (length > message.length - at) throw new DecodeError(`the message ends within a field, at byte ${at}`);
    at += length;
    return message.subarray(at - length, at);
  };
  while (at < message.length) {
    const tag = varint();
    const number = Math.floor(tag / 8);
    switch (tag % 8) {
      case 0:
        fields.push({ number, value: varint(), bytes: NONE });
        break;
      case 1:
        fields.push({ number, value: 0, bytes: take(8) });
        break;
      case 2:
        fields.push({ number, value: 0, bytes: take(varint()) });
        break;
      case 5:
        fields.push({ number, value: 0, bytes: take(4) });
        break;
      default:
        throw new DecodeError(`a field of wire type ${tag % 8} ends at byte ${at}`);
    }
  }
  return fields;
}

/** Returns the text of a string field. Throws a `DecodeError` for invalid UTF-8. */
export function textOf(bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes);
  } catch {
    throw new DecodeError("a string is not valid UTF-8");
  }
}

/** Returns the last string field with that number, or "". */
export function stringField(fields: readonly Field[], number: number): string {
  const field = fields.findLast((each) => each.number === number);
  return field === undefined ? "" : textOf(field.bytes);
}

function pushVarint(out: number[], value: number): void {
  let rest = value;
  for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) out.push((rest % 0x80) | 0x80);
  out.push(rest);
}

/** Encodes a length-delimited field: text, bytes, or the fields of a message. */
export function lengthField(number: number, content: string | Uint8Array | Uint8Array[]): Uint8Array {
  const bytes =
    typeof content === "string"
      ? Buffer.from(content, "utf8")
      : Array.isArray(content)
        ? Buffer.concat(content)
        : content;
  const head: number[] = [];
  pushVarint(head, number * 8 + 2);
  pushVarint(head, bytes.length);
  return Buffer.concat([Uint8Array.from(head), bytes]);
}

/** Encodes a varint field of 0 or more. Returns no bytes for 0, as in proto3. */
export function numberField(number: number, value: number): Uint8Array {
  if (value === 0) return NONE;
  const out: number[] = [];
  pushVarint(out, number * 8);
  pushVarint(out, value);
  return Uint8Array.from(out);
}

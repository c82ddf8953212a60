import { WireError, type WireReader, WireType } from "./wire.ts";

/** Nesting limit for groups in an unknown field. */
const MAX_GROUP_DEPTH = 32;

/** Skips the value of an unknown field. */
export function skipField(reader: WireReader, tag: number, depth = 0): void {
  const type = tag & 7;
  if (type === WireType.VARINT) reader.uint64();
  else if (type === WireType.BYTES) reader.position = reader.lengthDelimited();
  else if (type === WireType.FIXED32) advance(reader, 4);
  else if (type === WireType.FIXED64) advance(reader, 8);
  else if (type === WireType.GROUP) skipGroup(reader, tag >>> 3, depth);
  else throw new WireError(`a field has the invalid wire type ${type}`);
}

function advance(reader: WireReader, bytes: number): void {
  reader.position += bytes;
  if (reader.position > reader.end) throw new WireError("the message ends inside a number");
}

function skipGroup(reader: WireReader, number: number, depth: number): void {
  if (depth >= MAX_GROUP_DEPTH) throw new WireError("groups are nested too deeply");
  while (reader.position < reader.end) {
    const tag = reader.tag();
    if ((tag & 7) === WireType.GROUP_END) {
      if (tag >>> 3 !== number) throw new WireError("a group end has no matching start");
      return;
    }
    skipField(reader, tag, depth + 1);
  }
  throw new WireError("the message ends inside a group");
}

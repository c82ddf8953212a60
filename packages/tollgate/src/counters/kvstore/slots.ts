/** Number of hash slots of a cluster (Redis cluster specification, "Key distribution model"). */
export const SLOT_COUNT = 16384;

/** CRC16-CCITT (XMODEM), polynomial 0x1021. */
const table = new Uint16Array(256);
for (let i = 0; i < 256; i++) {
  let crc = i << 8;
  for (let bit = 0; bit < 8; bit++) crc = (crc & 0x8000) !== 0 ? (crc << 1) ^ 0x1021 : crc << 1;
  table[i] = crc & 0xffff;
}

/**
 * The hash slot of a key. If the key has a non-empty hash tag `{...}`, only the tag is hashed. Our keys have braces
 * if they belong to a list of limits, or if `CACHE_KEY_PREFIX` has some: operators use it to keep all counters of a
 * deployment in one slot.
 */
export function slotOf(key: string): number {
  const open = key.indexOf("{");
  if (open >= 0) {
    const close = key.indexOf("}", open + 1);
    if (close > open + 1) return crc16(key.slice(open + 1, close)) % SLOT_COUNT;
  }
  return crc16(key) % SLOT_COUNT;
}

/** The slot of `stem + windowStart`. Without concatenation it takes a third of the time. */
export function slotOfWindow(stem: string, windowStart: number): number {
  if (stem.includes("{")) return slotOf(stem + windowStart);
  return crc16(String(windowStart), crc16(stem)) % SLOT_COUNT;
}

function crc16(text: string, before = 0): number {
  let crc = before;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit > 127) return crc16Bytes(Buffer.from(text), before);
    crc = ((crc << 8) & 0xffff) ^ table[(crc >> 8) ^ unit]!;
  }
  return crc;
}

function crc16Bytes(bytes: Buffer, before: number): number {
  let crc = before;
  for (const byte of bytes) crc = ((crc << 8) & 0xffff) ^ table[(crc >> 8) ^ byte]!;
  return crc;
}

/** How statistics are named: what the statsd line protocol, its tag extensions and file systems can carry. */
import { printable } from "../text/printable.ts";

/** A tag on a statistic; `EXTRA_TAGS` and the `.__key=value` parts of a name. */
export interface Tag {
  readonly key: string;
  readonly value: string;
}

/** Names are cut here, in UTF-8 bytes. */
export const MAX_NAME_BYTES = 512;
/**
 * What lies behind so many UTF-16 units never shows in a name: each takes at least one byte, and an IPv4 address that
 * begins within the bytes of a name ends at most 14 units behind them.
 */
export const MAX_NAME_UNITS = MAX_NAME_BYTES + 16;

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
const unsafe = /[:|#@\u0000-\u001f\u007f-\u009f\u2028\u2029]/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
const everyUnsafe = /[:|#@\u0000-\u001f\u007f-\u009f\u2028\u2029]/g;
const ipv4 = /\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}/g;

/**
 * `:`, `|`, `#`, `@`, control characters and line ends become `_`, and so do the dots of an IPv4 address. A byte that is
 * not UTF-8 becomes `\xFF`. Long texts are shortened, but never to fewer bytes than a name has.
 */
export function sanitise(text: string): string {
  const shown = printable(text.length > MAX_NAME_UNITS ? text.slice(0, MAX_NAME_UNITS) : text);
  const safe = unsafe.test(shown) ? shown.replace(everyUnsafe, "_") : shown;
  return safe.includes(".") ? safe.replace(ipv4, (address) => address.replaceAll(".", "_")) : safe;
}

/** The longest beginning of `text` that takes at most `bytes` in UTF-8, never half a character. */
export function cut(text: string, bytes: number): string {
  if (text.length * 3 <= bytes) return text;
  const encoded = Buffer.from(text, "utf8");
  if (encoded.length <= bytes) return text;
  let end = Math.max(bytes, 0);
  while (end > 0 && (encoded[end]! & 0xc0) === 0x80) end--;
  return encoded.toString("utf8", 0, end);
}

/** Cuts a dotted path to `bytes`. Shortens the part that does not fit and leaves out the parts after it. */
export function cutParts(parts: readonly string[], bytes: number): readonly string[] {
  if (Buffer.byteLength(parts.join(".")) <= bytes) return parts;
  const kept: string[] = [];
  let left = bytes;
  for (const part of parts) {
    if (left < 0) break;
    const short = cut(part, left);
    if (short === "" && part !== "") break;
    kept.push(short);
    if (short.length < part.length) break;
    left -= Buffer.byteLength(short) + 1;
  }
  return kept;
}

/** Sorted by key; tags without a key or a value are left out. */
export function sortTags(tags: Readonly<Record<string, string>>): readonly Tag[] {
  return mergeTags(
    [],
    Object.entries(tags)
      .filter(([key, value]) => key !== "" && value !== "")
      .map(([key, value]) => ({ key, value })),
  );
}

/** Both, sorted by key. */
export function mergeTags(own: readonly Tag[], all: readonly Tag[]): readonly Tag[] {
  return [...own, ...all].sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
}

/** `.__key=value` for each tag: how plain statsd carries them. `.`, `:`, `|` and the like become `_`. */
export function tagSuffix(tags: readonly Tag[]): string {
  return tags.map(({ key, value }) => `.__${tagPart(key)}=${tagPart(value)}`).join("");
}

function tagPart(text: string): string {
  return sanitise(text).replace(/[.=\s]/g, "_");
}

/** `|#key:value,key2:value2`, as agents take tags; empty without tags. A value may hold `:`, a key may not. */
export function tagFields(tags: readonly Tag[]): string {
  const fields = tags.map(({ key, value }) => `${fieldPart(key).replaceAll(":", "_")}:${fieldPart(value)}`);
  return fields.length === 0 ? "" : `|#${fields.join(",")}`;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
const fieldUnsafe = /[|#@,\s\u0000-\u001f\u007f-\u009f]/g;

function fieldPart(text: string): string {
  return text.replace(fieldUnsafe, "_");
}

/** Takes the `.__key=value` parts out of a name. */
export function splitTags(name: string): { readonly name: string; readonly tags: readonly Tag[] } {
  if (!name.includes(".__")) return { name, tags: [] };
  const [base, ...parts] = name.split(".__");
  const tags: Tag[] = [];
  for (const part of parts) {
    const equals = part.indexOf("=");
    if (equals > 0) tags.push({ key: part.slice(0, equals), value: part.slice(equals + 1) });
  }
  return { name: base!, tags };
}

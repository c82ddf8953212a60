/** Names of statistics, restricted to the characters that the statsd protocol, its tag extensions and file systems allow. */
import { printable } from "../text/printable.ts";

/** A tag of a statistic, from `EXTRA_TAGS` or from a `.__key=value` part of its name. */
export interface Tag {
  readonly key: string;
  readonly value: string;
}

/** Maximum UTF-8 bytes of a name. Longer names are cut. */
export const MAX_NAME_BYTES = 512;
/**
 * UTF-16 units after this many never show in a name: each takes at least one byte, and an IPv4 address that begins
 * within the bytes of a name ends at most 14 units after them.
 */
export const MAX_NAME_UNITS = MAX_NAME_BYTES + 16;

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
const unsafe = /[:|#@\u0000-\u001f\u007f-\u009f\u2028\u2029]/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
const everyUnsafe = /[:|#@\u0000-\u001f\u007f-\u009f\u2028\u2029]/g;
const ipv4 = /\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}/g;

/**
 * Replaces `:`, `|`, `#`, `@`, control characters, line ends and the dots of IPv4 addresses by `_`. Shows a byte that is
 * not UTF-8 as `\xFF`. Shortens long texts, but never below the maximum bytes of a name.
 */
export function sanitise(text: string): string {
  const shown = printable(text.length > MAX_NAME_UNITS ? text.slice(0, MAX_NAME_UNITS) : text);
  const safe = unsafe.test(shown) ? shown.replace(everyUnsafe, "_") : shown;
  return safe.includes(".") ? safe.replace(ipv4, (address) => address.replaceAll(".", "_")) : safe;
}

/** Returns the longest prefix of `text` with at most `bytes` bytes of UTF-8. Never splits a character. */
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
  // A UTF-16 unit takes at most three bytes.
  const units = parts.reduce((sum, part) => sum + part.length + 1, 0);
  if (3 * units <= bytes || Buffer.byteLength(parts.join(".")) <= bytes) return parts;
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

/** Sorts tags by key. Leaves out tags without a key or a value. */
export function sortTags(tags: Readonly<Record<string, string>>): readonly Tag[] {
  return mergeTags(
    [],
    Object.entries(tags)
      .filter(([key, value]) => key !== "" && value !== "")
      .map(([key, value]) => ({ key, value })),
  );
}

/** Merges both lists, sorted by key. */
export function mergeTags(own: readonly Tag[], all: readonly Tag[]): readonly Tag[] {
  return [...own, ...all].sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
}

/** Formats tags for plain statsd, as `.__key=value` each. Reserved characters (`.`, `:`, `|`) become `_`. */
export function tagSuffix(tags: readonly Tag[]): string {
  return tags.map(({ key, value }) => `.__${tagPart(key)}=${tagPart(value)}`).join("");
}

function tagPart(text: string): string {
  return sanitise(text).replace(/[.=\s]/g, "_");
}

/** Formats tags for statsd agents: `|#key:value,key2:value2`; empty without tags. Values may contain `:`, keys may not. */
export function tagFields(tags: readonly Tag[]): string {
  const fields = tags.map(({ key, value }) => `${fieldPart(key).replaceAll(":", "_")}:${fieldPart(value)}`);
  return fields.length === 0 ? "" : `|#${fields.join(",")}`;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
const fieldUnsafe = /[|#@,\s\u0000-\u001f\u007f-\u009f]/g;

function fieldPart(text: string): string {
  return text.replace(fieldUnsafe, "_");
}

/** Splits the `.__key=value` parts off a name. */
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

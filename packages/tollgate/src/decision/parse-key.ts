/** Reads the domain and the entries back from a cache key, for operators who search counters. */
import type { Entry } from "../protocol/messages.ts";
import { decodeLeniently } from "../text/lenient-utf8.ts";
import { encodeKeyPart } from "./cache-key.ts";

export interface ParsedKey {
  readonly domain: string;
  readonly entries: readonly Entry[];
}

/**
 * The parts of a key in Tollgate's own format; undefined for a hashed key and for other formats.
 * @param prefix `CACHE_KEY_PREFIX`
 */
export function parseKey(prefix: string, key: string): ParsedKey | undefined {
  const isListed = key.startsWith(`{${prefix}`);
  const start = isListed ? prefix.length + 1 : prefix.length;
  if (!isListed && !key.startsWith(prefix)) return undefined;
  const end = isListed ? key.lastIndexOf("}") : key.lastIndexOf("|") + 1;
  const parts = key.slice(start, end).split("|");
  // The text ends with a bar.
  if (parts.length < 2 || parts.pop() !== "") return undefined;
  const [domain, ...pairs] = parts;
  const entries: Entry[] = [];
  for (const pair of pairs) {
    const at = pair.indexOf("=");
    if (at < 0) return undefined;
    entries.push({ key: decoded(pair.slice(0, at)), value: decoded(pair.slice(at + 1)) });
  }
  return { domain: decoded(domain!), entries };
}

/** The common beginning of the keys in a domain whose descriptors begin with a text, `tenant=acme,path=/a`. */
export function keyPrefixOf(prefix: string, domain: string | undefined, descriptor: string): string {
  if (domain === undefined) return prefix;
  const entries = descriptor === "" ? [] : descriptor.split(/(?<!\\),/);
  const last = entries.pop();
  const texts = entries.map((entry) => `${pairText(entry)}|`);
  return `${prefix}${encodeKeyPart(domain)}|${texts.join("")}${last === undefined ? "" : pairText(last)}`;
}

function pairText(entry: string): string {
  const text = entry.replaceAll("\\,", ",");
  const at = text.indexOf("=");
  if (at < 0) return encodeKeyPart(text);
  return `${encodeKeyPart(text.slice(0, at))}=${encodeKeyPart(text.slice(at + 1))}`;
}

function decoded(text: string): string {
  if (!text.includes("%")) return text;
  const bytes = Buffer.from(
    text.replace(/%([0-9A-F]{2})|[\s\S]/gu, (found, hex: string | undefined) =>
      hex === undefined
        ? Buffer.from(found).toString("latin1")
        : String.fromCharCode(Number.parseInt(hex, 16)),
    ),
    "latin1",
  );
  return decodeLeniently(bytes, 0, bytes.length);
}

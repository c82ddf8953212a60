import { bytesOfSurrogate, escapedByte } from "./lenient-utf8.ts";

const loneSurrogates = /\p{Cs}/gu;
const FIRST_SURROGATE = 0xd800;
const SURROGATES = 0x800;

/** By surrogate: how the bytes that it stands for are shown. */
const shown: readonly string[] = Array.from({ length: SURROGATES }, (_, index) => {
  const byte = escapedByte(FIRST_SURROGATE + index);
  const bytes = byte === undefined ? bytesOfSurrogate(FIRST_SURROGATE + index) : [byte];
  return bytes.map((one) => `\\x${one.toString(16).toUpperCase().padStart(2, "0")}`).join("");
});

/** Text as statistics, logs, metadata, explanations and spans show it: a byte that is not UTF-8 is `\xFF`. */
export function printable(text: string): string {
  if (text.isWellFormed()) return text;
  return text.replace(loneSurrogates, (surrogate) => shown[surrogate.charCodeAt(0) - FIRST_SURROGATE]!);
}

/** `value` with every text in it printable: plain data of texts, lists and objects. */
export function printableData<T>(value: T): T {
  if (typeof value === "string") return printable(value) as T;
  if (Array.isArray(value)) return value.map(printableData) as T;
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, printableData(item)])) as T;
}

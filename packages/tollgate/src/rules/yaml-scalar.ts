import type { JsonValue } from "../protocol/messages.ts";
import type { YamlNode, YamlScalar } from "./yaml-node.ts";

/** Whether a node is null in both YAML 1.1 and YAML 1.2. */
export function isNull(node: YamlNode): boolean {
  if (node.kind !== "scalar" || !node.plain) return false;
  const { text } = node;
  // Most values are longer.
  if (text.length > 4) return false;
  return text === "" || text === "~" || text === "null" || text === "Null" || text === "NULL";
}

const booleans = new Map<string, boolean>();
for (const text of ["y", "yes", "true", "on"]) addSpellings(text, true);
for (const text of ["n", "no", "false", "off"]) addSpellings(text, false);

function addSpellings(text: string, value: boolean): void {
  for (const spelling of [text, text.charAt(0).toUpperCase() + text.slice(1), text.toUpperCase()]) {
    booleans.set(spelling, value);
  }
}

/** The plain spellings of booleans (YAML 1.1) for fields of type boolean. */
export const booleanSpellings: readonly string[] = [...booleans.keys()];

/** Reads a boolean in YAML 1.1's spellings. Undefined for anything else, including quoted text. */
export function booleanOf(node: YamlScalar): boolean | undefined {
  return node.plain ? booleans.get(node.text) : undefined;
}

/** Reads a whole number. Returns a fault as the end of a sentence that begins with the field's name. */
export function countOf(node: YamlScalar, min: number, max: number): number | string {
  const { text } = node;
  if (!node.plain) return `must be a number, not the text "${shortened(text)}": remove the quotes`;
  const usual = /^[1-9][0-9]{0,14}$/.test(text) ? Number(text) : Number.NaN;
  if (usual >= min && usual <= max) return usual;
  if (/^[+]?0[0-9_]+$/.test(text)) {
    return `must not begin with 0: "${shortened(text)}" is octal to some readers and decimal to others`;
  }
  if (/^-[0-9_.]+$/.test(text)) return `must not be negative: ${shortened(text)}`;
  if (!/^[+]?(?:[0-9][0-9_]*|0x[0-9a-fA-F_]+|0o[0-7_]+|0b[01_]+)$/.test(text)) {
    return `must be a whole number from ${min} to ${max}, not "${shortened(text)}"`;
  }
  const number = Number(text.replace(/[+_]/g, ""));
  if (Number.isNaN(number)) return `must be a whole number from ${min} to ${max}, not "${shortened(text)}"`;
  if (number < min) return `must be at least ${min}: ${shortened(text)}`;
  return number <= max ? number : `must be at most ${max}: ${shortened(text)}`;
}

/** Reads a scalar of `metadata` by YAML 1.2's core schema. Undefined for a number that JSON cannot represent. */
export function jsonScalarOf(node: YamlScalar): JsonValue | undefined {
  const { text } = node;
  if (!node.plain) return text;
  if (isNull(node)) return null;
  if (/^(?:true|True|TRUE)$/.test(text)) return true;
  if (/^(?:false|False|FALSE)$/.test(text)) return false;
  if (/^0o[0-7]+$/.test(text) || /^0x[0-9a-fA-F]+$/.test(text)) return Number(text);
  if (/^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$/.test(text)) {
    const number = Number(text);
    return Number.isFinite(number) ? number : undefined;
  }
  return /^(?:[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$/.test(text) ? undefined : text;
}

/** Names the kind of a node for the end of a message: "... must be text, not a list". */
export function kindOf(node: YamlNode): string {
  if (node.kind === "mapping") return "a mapping";
  if (node.kind === "sequence") return "a list";
  return node.text === "" ? "nothing" : `"${shortened(node.text)}"`;
}

/** Shortens a piece of the user's text for a message, on one line. */
export function shortened(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters must not reach a terminal
  const line = text.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g, "?");
  return line.length > 60 ? `${line.slice(0, 57)}...` : line;
}

import type { CheckedType, TypeProgram } from "./type-view.ts";

/**
 * The regular expression (flag `u`) for the texts of a template literal type. Undefined if its parts have no pattern.
 *
 * TypeScript matches the parts from left to right and never goes back: a part ends at the first occurrence of the text
 * that follows it, and has one character if another part follows directly. The pattern does the same. It accepts
 * numbers only in decimal notation of at most 200 digits, so that each one is finite.
 */
export function templatePattern(
  texts: readonly string[],
  types: readonly CheckedType[],
  program: TypeProgram,
): string | undefined {
  let pattern = `^${escaped(texts[0]!)}`;
  for (const [index, type] of types.entries()) {
    const isLast = index === types.length - 1;
    const next = texts[index + 1]!;
    const part = partPattern(type, isLast ? "last" : next === "" ? "one" : next, program);
    if (part === undefined) return undefined;
    pattern += part + escaped(next);
  }
  return `${pattern}$`;
}

/** The pattern of a string mapping such as `Uppercase<string>`. */
export function mappingPattern(name: string, type: CheckedType, program: TypeProgram): string | undefined {
  const part = mapping(name, type, "last", program);
  return part && `^${part}$`;
}

/** The end of a part: the end of the text, after one character, or before the first occurrence of a text. */
type End = "last" | "one" | (string & {});

function partPattern(type: CheckedType, end: End, program: TypeProgram): string | undefined {
  const view = program.view(type);
  switch (view.kind) {
    case "string":
    case "unknown":
      return repeated("[\\s\\S]", end);
    case "number":
      return end === "one" ? "[0-9]" : number(guard(end));
    case "bigint":
      return end === "one" ? "[0-9]" : `(?:${guard(end)}-)?(?:${guard(end)}[0-9]){1,200}`;
    case "mapping":
      return mapping(view.name, view.type, end, program);
    default:
      return undefined;
  }
}

function repeated(character: string, end: End): string {
  // One UTF-16 unit, which is a character of the basic plane.
  if (end === "one") return character === "[\\s\\S]" ? "[\\0-\\uFFFF]" : `(?=[\\0-\\uFFFF])${character}`;
  return `(?:${guard(end)}${character})*`;
}

const guard = (end: End): string => (end === "last" ? "" : `(?!${escaped(end)})`);

function number(before: string): string {
  const digits = (count: string): string => `(?:${before}[0-9]){${count}}`;
  const point = `${before}\\.`;
  const sign = `(?:${before}[+-])?`;
  return `${sign}(?:${digits("1,200")}(?:${point}${digits("0,200")})?|${point}${digits("1,200")})(?:${before}[eE]${sign}${digits("1,2")})?`;
}

/** Characters that a case mapping leaves unchanged. */
const UNCHANGED: Readonly<Record<string, string>> = {
  Uppercase: "\\P{Changes_When_Uppercased}",
  Lowercase: "\\P{Changes_When_Lowercased}",
};

function mapping(name: string, type: CheckedType, end: End, program: TypeProgram): string | undefined {
  if (program.view(type).kind !== "string") return undefined;
  const whole = UNCHANGED[name];
  if (whole) return repeated(whole, end);
  const first = UNCHANGED[name === "Capitalize" ? "Uppercase" : name === "Uncapitalize" ? "Lowercase" : ""];
  if (!first) return undefined;
  if (end === "one") return repeated(first, end);
  return `(?:${guard(end)}${first}${repeated("[\\s\\S]", end)})?`;
}

const escaped = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");

import type { MethodEntry } from "./types/table.ts";

/** The parts of a request that the arguments of a call fill. */
export interface Placed {
  readonly segments: readonly string[];
  readonly keywords: Record<string, unknown> | undefined;
}

/** Places the arguments of a call by the table's entry, or by the general rule. */
export function placeArguments(
  args: readonly unknown[],
  entry: MethodEntry | undefined,
  call: string,
): Placed {
  return entry === undefined ? byRule(args, call) : byEntry(args, entry, call);
}

/** The last plain object is the keywords, and everything else a path segment. */
function byRule(args: readonly unknown[], call: string): Placed {
  const at = args.findLastIndex(isPlain);
  const others = args.filter((_, index) => index !== at);
  while (others.length > 0 && others.at(-1) === undefined) others.pop();
  const segments = others.map((value, index) => {
    const text = segmentText(value);
    if (text === undefined)
      throw new TypeError(
        `${call}: the argument ${shown(value)} (number ${index + 1}) cannot be a path segment. Run "waymark types --table=FILE" and pass its table: client(url, { table })`,
      );
    return text;
  });
  return { segments, keywords: args[at] as Placed["keywords"] };
}

/** Every argument that a path segment cannot carry goes by name, and so do the ones after it. */
function byEntry(args: readonly unknown[], { args: names, taken }: MethodEntry, call: string): Placed {
  const segments: string[] = [];
  let keywords: Record<string, unknown> | undefined;
  let isByName = false;
  for (const [index, value] of args.entries()) {
    const name = names[Math.min(index, names.length - 1)];
    if (name === undefined || (index >= names.length && name !== "..."))
      throw new TypeError(`${call} has ${names.length} parameters, not ${args.length}`);
    if (value === undefined) {
      isByName ||= name !== "{}";
      continue;
    }
    if (name === "{}") {
      keywords = { ...keywords, ...(value as object) };
      continue;
    }
    const text = isByName ? undefined : segmentText(value);
    const isTaken = index === 0 && text !== undefined && taken?.includes(text.replaceAll("-", "_"));
    if (text !== undefined && !isTaken) segments.push(text);
    else if (name === "...")
      throw new TypeError(
        `${call}: the argument ${shown(value)} (number ${index + 1}) cannot be a path segment`,
      );
    else {
      isByName = true;
      keywords = { ...keywords, [name]: value };
    }
  }
  return { segments, keywords };
}

/**
 * The text of a path segment. Undefined for lists and other objects, and for texts that do not survive in a path: `.`
 * and `..` are resolved, an empty segment is removed.
 */
function segmentText(value: unknown): string | undefined {
  const text = scalarText(value);
  return value === null || text === "" || text === "." || text === ".." ? undefined : text;
}

/** A value as text. Undefined for lists and other objects. */
export function scalarText(value: unknown): string | undefined {
  if (value === null) return "";
  if (value instanceof Date) return value.toISOString();
  if (value instanceof URL || /^\[object Temporal\./.test(Object.prototype.toString.call(value)))
    return String(value);
  if (typeof value === "number" && !Number.isFinite(value)) return undefined;
  return typeof value === "object" || typeof value === "function" || value === undefined
    ? undefined
    : String(value);
}

function isPlain(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

/** A short text for a value in an error message. */
export function shown(value: unknown): string {
  if (Array.isArray(value)) return "[...]";
  if (typeof value === "string") return JSON.stringify(value.slice(0, 50));
  return typeof value === "object" && value !== null
    ? `a ${value.constructor?.name ?? "object"}`
    : String(value);
}

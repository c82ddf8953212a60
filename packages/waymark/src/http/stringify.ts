import { sourceOf } from "./body-source.ts";

/** `JSON.stringify` with bigints as strings. Throws for a `Map`, a `Set`, a promise or a stream at any depth. */
export function stringify(value: unknown): string {
  let text: string | undefined;
  try {
    text = JSON.stringify(value);
  } catch (error) {
    // Only a bigint justifies a second, slower attempt. A cycle fails again there.
    if (!(error instanceof TypeError)) throw error;
    text = checked(value);
  }
  if (text === undefined) throw new TypeError(`a ${typeof value} cannot be sent as JSON`);
  // A Map, a Set or a promise would become {}, and a stream would show its state, which contains {}. The slower check runs
  // only if the text contains {}.
  if (text.includes("{}")) checked(value);
  return text;
}

function checked(value: unknown): string | undefined {
  let fault: string | undefined;
  const text = JSON.stringify(value, (_name, member: unknown) => {
    if (typeof member === "bigint") return String(member);
    if (typeof member !== "object" || member === null) return member;
    const found = faultOf(member);
    if (found === undefined) return member;
    fault ??= found;
    return null;
  });
  if (fault !== undefined) throw new TypeError(fault);
  return text;
}

/** Returns the reason why an object cannot be sent as JSON. Releases a stream, because nothing else reads it. */
function faultOf(value: object): string | undefined {
  if (value instanceof Map) return "a Map cannot be sent as JSON: return Object.fromEntries(map)";
  if (value instanceof Set) return "a Set cannot be sent as JSON: return [...set]";
  if (value instanceof Promise) {
    value.catch(() => undefined);
    return "a Promise cannot be sent as JSON: await it";
  }
  const source = sourceOf(value);
  if (source === undefined) return undefined;
  void source.return();
  return "a stream or a generator cannot be sent within JSON: return it by itself";
}

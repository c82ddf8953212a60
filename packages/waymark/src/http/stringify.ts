/** `JSON.stringify` with bigints as strings. Throws for a `Map` or `Set` at any depth. */
export function stringify(value: unknown): string {
  let text: string | undefined;
  try {
    text = JSON.stringify(value);
  } catch (error) {
    // Only a bigint justifies a second, slower attempt. A cycle fails again there.
    if (!(error instanceof TypeError)) throw error;
    text = JSON.stringify(value, carry);
  }
  if (text === undefined) throw new TypeError(`a ${typeof value} cannot be sent as JSON`);
  // A Map or Set would become {}. The slower check runs only if the text contains {}.
  if (text.includes("{}")) JSON.stringify(value, carry);
  return text;
}

function carry(_name: string, value: unknown): unknown {
  if (typeof value === "bigint") return String(value);
  if (value instanceof Map)
    throw new TypeError("a Map cannot be sent as JSON: return Object.fromEntries(map)");
  if (value instanceof Set) throw new TypeError("a Set cannot be sent as JSON: return [...set]");
  return value;
}

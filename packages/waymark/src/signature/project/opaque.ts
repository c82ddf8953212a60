/** Whether an object is sent by other rules than those of plain data: streams, bytes, errors, responses, `toJSON`. */
export function isOpaque(value: object): boolean {
  const parts = value as { readonly [name: PropertyKey]: unknown };
  return (
    typeof parts.toJSON === "function" ||
    isStream(value) ||
    value instanceof Error ||
    ArrayBuffer.isView(value) ||
    value instanceof ArrayBuffer ||
    value instanceof Blob ||
    // The name `Response` would load the whole of fetch.
    Object.prototype.toString.call(value) === "[object Response]"
  );
}

function isStream(value: object): boolean {
  const parts = value as { readonly [name: PropertyKey]: unknown };
  return isIterable(value) || typeof parts.pipe === "function" || typeof parts.getReader === "function";
}

/** Whether the items of an object are sent one by one. A stream of bytes has no items. */
export function hasItems(value: object): value is AsyncIterable<unknown> | Iterable<unknown> {
  const parts = value as { readonly [name: PropertyKey]: unknown };
  const isBytes =
    ArrayBuffer.isView(value) || typeof parts.pipe === "function" || typeof parts.getReader === "function";
  return isIterable(value) && !isBytes;
}

function isIterable(value: object): boolean {
  const parts = value as { readonly [name: PropertyKey]: unknown };
  return typeof parts[Symbol.asyncIterator] === "function" || typeof parts[Symbol.iterator] === "function";
}

export function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

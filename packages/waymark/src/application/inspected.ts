/** A value as Node shows it. Undefined in a runtime without Node's modules: an import would end the start there. */
export function inspected(value: unknown): string | undefined {
  const node = globalThis.process?.getBuiltinModule?.("node:util");
  return node?.inspect(value, { breakLength: Number.POSITIVE_INFINITY, compact: true });
}

/** A value as an expression of TypeScript that creates it. */
export function expressionOf(value: unknown): string {
  if (typeof value === "bigint") return `${value}n`;
  if (value instanceof Date) return "new Date(0)";
  if (value instanceof URL) return 'new URL("https://example.com/")';
  if (value instanceof Temporal.PlainDate) return 'Temporal.PlainDate.from("2026-01-31")';
  if (Array.isArray(value)) return `[${value.map(expressionOf).join(", ")}]`;
  if (typeof value === "object" && value !== null) {
    const parts = Object.entries(value).map(
      ([name, own]) => `[${JSON.stringify(name)}]: ${expressionOf(own)}`,
    );
    return `{ ${parts.join(", ")} }`;
  }
  if (value === undefined || value === null) return String(value);
  // Otherwise TypeScript widens a literal within an object before it compares the types.
  return `${JSON.stringify(value)} as const`;
}

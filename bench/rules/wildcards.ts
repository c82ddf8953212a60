import { load } from "./lookup.ts";
import { fresh, nanoseconds, row, shuffled } from "./measure.ts";

const COUNT = 1000;

/** For each kind, the pattern of a number and a value that matches it. */
const kinds: Readonly<Record<string, (number: number) => readonly [string, string]>> = {
  "prefixes (/api/v7/*)": (number) => [`/api/v${number}/*`, `/api/v${number}/users/12`],
  "suffixes (*.host7.example.com)": (number) => [
    `*.host${number}.example.com`,
    `www.host${number}.example.com`,
  ],
  "middles (*/service7/*)": (number) => [`*/service${number}/*`, `/api/service${number}/users`],
  "both ends (/api/*/users7/*.json)": (number) => [
    `/api/*/users${number}/*.json`,
    `/api/v1/users${number}/all.json`,
  ],
  "nested prefixes (/a/a/a/*)": (number) => [
    `${"/a".repeat(number % 100)}/${number}*`,
    `${"/a".repeat(number % 100)}/${number}b`,
  ],
};

function descriptors(patterns: readonly string[]): string {
  const list = patterns.map((value) => ({
    key: "k",
    value,
    rate_limit: { unit: "minute", requests_per_unit: 1 },
  }));
  return JSON.stringify({ domain: "d", descriptors: list });
}

/** A lookup without an index: tries the patterns as regular expressions, one after the other. */
function scanning(patterns: readonly string[], values: readonly string[]): () => void {
  const expressions = patterns.map((pattern) => {
    const parts = pattern.split("*").map((part) => part.replace(/[.\\+?^${}()|[\]]/g, "\\$&"));
    return new RegExp(`^${parts.join(".*")}$`, "s");
  });
  return () => {
    for (const value of values) expressions.find((expression) => expression.test(value));
  };
}

/** Measures wildcards. Budget: a lookup among 1,000 wildcards of one level takes less than 1 µs. */
export function runWildcards(): void {
  for (const [kind, make] of Object.entries(kinds)) {
    const pairs = Array.from({ length: COUNT }, (_, number) => make(number));
    const patterns = pairs.map(([pattern]) => pattern);
    const rules = load(descriptors(patterns));
    const values = shuffled(pairs.map(([, value]) => fresh(value)));
    const requests = values.map((value) => [{ key: fresh("k"), value }]);
    const indexed = () => {
      let found = 0;
      for (const entries of requests) if (rules.match("d", entries) !== undefined) found++;
      if (found !== COUNT) throw new Error(`${kind}: only ${found} lookups matched a rule`);
    };
    const [time = 0, scanned = 0] = nanoseconds(COUNT, [indexed, scanning(patterns, values)]);
    const note = `a scan: ${(scanned / time).toFixed(0)} times that (budget: 1000 ns)`;
    row(`${COUNT} wildcards, ${kind}`, time, "ns", note);
  }
}

import { load as parseYaml } from "js-yaml";
import { load, rulesText } from "./lookup.ts";
import { nanoseconds, row } from "./measure.ts";

/** Measures loads. Budget: 10,000 rules load in less than a second. */
export function runLoad(): void {
  const shapes: readonly (readonly [string, readonly number[]])[] = [
    ["10,000 rules in 4 levels", [10, 10, 10, 10]],
    ["10,000 rules in 1 level", [10_000]],
  ];
  for (const [name, widths] of shapes) {
    const text = rulesText(widths);
    const kilobytes = Math.round(text.length / 1024);
    const [time = 0, parse = 0] = nanoseconds(1e6, [() => load(text), () => parseYaml(text)]);
    row(
      `${name}, ${kilobytes} KiB`,
      time,
      "ms",
      `${(time / parse).toFixed(2)} times js-yaml's load of the text (budget: 1000 ms)`,
    );
  }
}

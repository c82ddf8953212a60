import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { loadRules } from "../../packages/tollgate/src/rules/load-rules.ts";
import { shuffled } from "../rules/measure.ts";
import { cpuNanoseconds } from "../support/cpu-time.ts";
import { median, table } from "../support/figures.ts";
import { LEVELS, levelsOf, rulesYaml } from "../support/rules-yaml.ts";
import type { Section } from "./section.ts";

/** Measures the lookup in 10 to 100,000 rules, compared to a `Map` with as many texts. */
export function rulesSection(rounds: number, isQuick: boolean): Section {
  const sizes = isQuick ? [10, 1000] : [10, 100, 1000, 10_000, 100_000];
  const measured = sizes.map((size) => ({ size, ...measure(size, rounds) }));
  const first = measured[0]!;
  return {
    name: "rules",
    title: "Rules",
    text: `Rules of ${LEVELS.length} levels, measured in one process with a different rule in each lookup. The baseline is a \`Map\` with as many texts and the four joined levels as the key: it shows the cost of a lookup in growing memory.`,
    table: table(
      ["rules", "ns per lookup", "x 10 rules", "ns in a Map", "x 10 texts", "load, ms", "memory, MiB"],
      measured.map(({ size, lookup, map, load, memory }) => [
        size.toLocaleString("en"),
        lookup.toFixed(0),
        (lookup / first.lookup).toFixed(2),
        map.toFixed(0),
        (map / first.map).toFixed(2),
        load.toFixed(0),
        memory.toFixed(1),
      ]),
    ),
    plot: {
      title: "Finding a rule of four levels",
      x: "rules",
      y: "ns",
      series: [
        { name: "Tollgate", points: measured.map(({ size, lookup }) => [size, lookup]) },
        { name: "a Map with as many texts", points: measured.map(({ size, map }) => [size, map]) },
      ],
    },
  };
}

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

function measure(size: number, rounds: number) {
  const texts = Array.from({ length: size }, (_, index) => levelsOf(index));
  const yaml = rulesYaml(size);
  collect();
  const before = usedMemory();
  const from = performance.now();
  const { ruleSet, diagnostics } = loadRules([{ name: "bench.yaml", text: yaml }], { mergeDomains: false });
  const load = performance.now() - from;
  if (ruleSet === undefined) throw new Error(diagnostics.map(({ message }) => message).join("\n"));
  collect();
  const memory = (usedMemory() - before) / 1024 ** 2;
  const asked = shuffled(texts)
    .slice(0, 10_000)
    .map((values) => LEVELS.map((key, level) => ({ key, value: values[level]! })));
  const map = new Map(texts.map((values, index) => [values.join("|"), index]));
  const lookup = time(rounds, (call) => {
    if (ruleSet.match("bench", asked[call % asked.length]!) === undefined) throw new Error("no rule");
  });
  const inMap = time(rounds, (call) => {
    const entries = asked[call % asked.length]!;
    const text = `${entries[0]!.value}|${entries[1]!.value}|${entries[2]!.value}|${entries[3]!.value}`;
    if (map.get(text) === undefined) throw new Error("no text");
  });
  return { lookup, map: inMap, load, memory };
}

function time(rounds: number, run: (call: number) => void): number {
  return median(cpuNanoseconds(Math.max(3, rounds), run));
}

/** Bytes of the heap and of the shared memory of compiled rules. */
function usedMemory(): number {
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

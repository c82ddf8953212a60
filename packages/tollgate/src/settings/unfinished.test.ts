import assert from "node:assert/strict";
import { test } from "node:test";
import { formatFault } from "./errors.ts";
import { loadSettings } from "./load.ts";
import { Findings, rowsOf } from "./reading.ts";
import { table } from "./table.ts";
import { reportUnfinished, type Unfinished, unfinished } from "./unfinished.ts";

const { settings } = loadSettings({});

function findingsOf(list: readonly Unfinished[], given: string[]): Findings {
  const findings = new Findings();
  for (const name of given) findings.given.set(name, { spelling: name, shown: "true" });
  reportUnfinished(settings, findings, list);
  return findings;
}

test("what is asked for and not there is refused or warned of, and nothing else is", () => {
  const list: Unfinished[] = [
    { variable: "A", asked: () => true, effect: "refused" },
    { variable: "B", asked: () => true, effect: "warned" },
    { variable: "C", asked: () => false, effect: "refused" },
    { variable: "D", asked: () => true, effect: "refused" },
  ];
  const { faults, warnings } = findingsOf(list, ["A", "B", "C"]);
  assert.deepEqual(faults.map(formatFault), ['A="true" must not be set: it is not supported yet']);
  assert.deepEqual(warnings, ["B is not supported yet and has no effect"]);
});

test("the list names settings, and defaults ask for none of them", () => {
  const names = new Set(rowsOf(table).map((row) => row.name));
  for (const { variable } of unfinished) assert.ok(names.has(variable), variable);
  assert.deepEqual(loadSettings({ BACKEND_TYPE: "embedded" }).warnings, []);
});

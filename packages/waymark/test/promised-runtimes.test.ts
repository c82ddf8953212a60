import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { deploymentsOf } from "../runtimes/deployments.ts";
import { TARGETS } from "../src/build/targets.ts";

const read = (path: string): string => readFileSync(new URL(path, import.meta.url), "utf8");

test("the suite of the runtimes runs the table of cases and the kit on each target that the manual promises", () => {
  const rows = [...read("../../../docs/waymark/deployment.md").matchAll(/^\|.*\|$/gm)].join("\n");
  const promised = [...new Set([...rows.matchAll(/`--target=([\w-]+)`/g)].map(([, name]) => name!))].sort();
  assert.deepEqual(promised, Object.keys(TARGETS).sort());
  const table = read("../runtimes/table.test.ts");
  const ofTable = [...table.matchAll(/bundle\("([\w-]+)"/g)].map(([, name]) => name!);
  assert.deepEqual([...new Set(ofTable)].sort(), promised);
  assert.match(read("../runtimes/kit.test.ts"), /= deploymentsOf\(\{ folder, /);
  const ofKit = deploymentsOf({ folder: "", app: "", workerApp: "" }).flatMap(({ target }) => target ?? []);
  // Both targets of Lambda have the same parts. The kit's cases include a stream.
  assert.deepEqual([...new Set([...ofKit, "lambda"])].sort(), promised);
});

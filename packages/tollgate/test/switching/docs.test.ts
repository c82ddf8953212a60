/** docs/switching.md lists every setting, and its queries use the metrics and labels that Tollgate has. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { catalogue } from "../../src/observe/catalogue.ts";
import { rowsOf } from "../../src/settings/read-values.ts";
import { table } from "../../src/settings/table.ts";
import { withSwitchingTables } from "../../tools/switching-table.ts";
import { groupingOf, selectorsOf } from "../observe/promql.ts";

const page = readFileSync(join(import.meta.dirname, "../../../../docs/switching.md"), "utf8");

test("its tables match the settings; run npm run manual -w packages/tollgate to update them", () => {
  assert.equal(page, withSwitchingTables(page));
});

test("its tables have every setting", () => {
  for (const { name, aliases } of rowsOf(table))
    assert.ok(
      [name, ...aliases].some((one) => page.includes(`| \`${one}\` |`)),
      name,
    );
});

const queries = [...page.matchAll(/^```promql\n([\s\S]*?)^```$/gm)].map(([, text]) => text!);

test("the page has queries", () => assert.ok(queries.length >= 4));

for (const query of queries)
  test(`its query is PromQL, on existing metrics and labels: ${query.split("\n")[0]}`, () => {
    const selectors = selectorsOf(query);
    assert.ok(selectors.length > 0);
    const known = new Set(["job", "le"]);
    for (const { name, text } of selectors) {
      const entry = catalogue.find(({ metric }) => name.test(metric) || name.test(`${metric}_bucket`));
      assert.ok(entry, text);
      for (const label of entry.labels) known.add(label);
    }
    for (const label of groupingOf(query)) assert.ok(known.has(label), label);
  });

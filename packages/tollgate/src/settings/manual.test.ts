import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { settingsHelp, settingsManual } from "./manual.ts";
import { rowsOf } from "./read-values.ts";
import { table } from "./table.ts";

const committed = join(import.meta.dirname, "..", "..", "..", "..", "docs", "settings.md");

test("docs/settings.md matches the table; run npm run manual -w packages/tollgate to update it", () => {
  assert.equal(readFileSync(committed, "utf8"), settingsManual());
});

test("help and manual list every setting with its aliases, default and meaning", () => {
  const help = settingsHelp(80);
  const manual = settingsManual();
  for (const row of rowsOf(table)) {
    const fallback = row.defaultText === "" ? "" : `, default ${row.defaultText}`;
    assert.ok(help.includes(`  ${row.name} (${row.kind.label}${fallback})\n`), row.name);
    const line = manual
      .split("\n")
      .find((one) => one.startsWith(`| <a id="${row.name}"></a>\`${row.name}\``));
    assert.ok(line, row.name);
    assert.ok(line.includes(row.meaning), row.name);
    for (const alias of row.aliases) {
      assert.ok(help.includes(alias), alias);
      assert.ok(line.includes(`\`${alias}\``), alias);
    }
  }
});

test("the help wraps lines at the given width, except for single long words", () => {
  for (const line of settingsHelp(80).split("\n"))
    if (line.startsWith("      ")) assert.ok(line.length <= 80 || !line.trim().includes(" "), line);
});

/** Tollgate accepts the settings in the `ini` blocks of all pages. */
import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { loadSettings } from "../src/settings/load-settings.ts";

const root = join(import.meta.dirname, "../../..");

/** The environments of a block: one, or one for each line with `ini each`. Removes comments. */
function environmentsOf(note: string, text: string): Record<string, string>[] {
  const lines = text
    .split("\n")
    .map((line) => line.replace(/(?:^|\s+)#.*$/, "").trim())
    .filter((line) => line !== "");
  const assigned = (line: string) => {
    const [, name, value] = /^([A-Z][A-Z0-9_]*)=(.*)$/.exec(line) ?? assert.fail(`not a setting: ${line}`);
    return [name!, value!] as const;
  };
  if (note === "") return [Object.fromEntries(lines.map(assigned))];
  assert.equal(note, "each");
  return lines.map((line) => Object.fromEntries(line.split(/\s+/).map(assigned)));
}

const pages = globSync(["docs/*.md", "packages/tollgate/README.md"], { cwd: root }).sort();
const blocks = pages.flatMap((page) =>
  [...readFileSync(join(root, page), "utf8").matchAll(/^```ini ?(.*)\n([\s\S]*?)^```$/gm)].map(
    ([, note, text]) => ({ page, note: note!, text: text! }),
  ),
);

test("the pages have blocks of settings", () => assert.ok(blocks.length >= 2, `${blocks.length} blocks`));

for (const { page, note, text } of blocks)
  test(`${page}: ${text.split("\n")[0]}`, () => {
    for (const environment of environmentsOf(note, text)) {
      const store = Object.keys(environment).some((name) =>
        /^(?:BACKEND|KVSTORE|REDIS|OBJCACHE)_/.test(name),
      );
      const chosen = store ? {} : { BACKEND_TYPE: "embedded" };
      assert.deepEqual(loadSettings({ ...chosen, ...environment }).warnings, [], text);
    }
  });

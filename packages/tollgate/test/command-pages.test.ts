/**
 * Types the commands of the pages about tests and changes of limits, top keys, the log of decisions and symptoms, and compares
 * their output.
 */
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fields, type Place } from "../src/testing/fields.ts";
import { PageReader } from "./page-reader.ts";

const root = join(import.meta.dirname, "../../..");
const pages = [
  "docs/testing-limits.md",
  "docs/diff-and-replay.md",
  "docs/top-keys.md",
  "docs/decision-log.md",
  "docs/troubleshooting.md",
];

/** Commands that run before the first command of a page. */
const BEFORE: Readonly<Record<string, () => string>> = {
  // The tutorial's rules, and a caller who has used up a limit of three.
  "docs/troubleshooting.md": () => {
    const tutorial = readFileSync(join(root, "docs/getting-started.md"), "utf8");
    const [rules] = /^```yaml file=[\s\S]*?^```$/m.exec(tutorial)!;
    const [service] = /^```sh service\n[\s\S]*?^```$/m.exec(tutorial)!;
    const call = /^```sh\n(curl -s -d [^\n]*\/json)\n```$/m.exec(tutorial)![1]!;
    return `${rules}\n\n${service}\n\n\`\`\`sh repeat=3\n${call}\n\`\`\`\n`;
  },
};

for (const page of pages)
  test(`${page}, block by block`, async () => {
    const folder = mkdtempSync(join(tmpdir(), "tollgate-page-"));
    const bin = join(folder, "node_modules", ".bin");
    mkdirSync(bin, { recursive: true });
    symlinkSync(join(root, "packages/tollgate/bin/tollgate.mjs"), join(bin, "tollgate"));
    const reader = new PageReader({ folder });
    try {
      await reader.read(BEFORE[page]?.() ?? "");
      await reader.read(readFileSync(join(root, page), "utf8"));
    } finally {
      await reader.close();
      rmSync(folder, { recursive: true });
    }
  });

test("docs/testing-limits.md lists the fields of a test file (UPDATE=1 rewrites it)", () => {
  const path = join(root, "docs/testing-limits.md");
  const page = readFileSync(path, "utf8");
  const places: Readonly<Record<Place, string>> = {
    file: "top level",
    settings: "`settings`",
    test: "test",
    step: "step",
    descriptor: "descriptor",
    limit: "`limit`",
    expect: "`expect`",
    status: "item of `expect.descriptors`",
  };
  const rows = (Object.keys(places) as Place[]).flatMap((place) =>
    fields[place].map(
      ({ name, required, meaning }) =>
        `| ${places[place]} | \`${name}\` | ${required ? "yes" : ""} | ${meaning} |\n`,
    ),
  );
  const table = `<!-- fields -->\n| in | field | required | meaning |\n|---|---|---|---|\n${rows.join("")}<!-- /fields -->`;
  const updated = page.replace(/<!-- fields -->[\s\S]*<!-- \/fields -->/, () => table);
  if (process.env.UPDATE) writeFileSync(path, updated);
  assert.equal(page, updated);
});

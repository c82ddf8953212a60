/** The pages of the manual that messages name exist. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { diagnosticCodes } from "../src/rules/diagnostic-codes.ts";
import { rowsOf } from "../src/settings/read-values.ts";
import { table } from "../src/settings/table.ts";
import {
  DIAGNOSTICS_PAGE,
  MANUAL,
  pageOfCode,
  pageOfDiagnostic,
  pageOfError,
  pageOfSetting,
  reportedCodes,
  SETTINGS_PAGE,
  START_PAGE,
  withPage,
} from "../src/text/manual.ts";

const root = join(import.meta.dirname, "../../..");

test("the manual is published in the repository that package.json names", () => {
  const manifest = readFileSync(join(root, "packages/tollgate/package.json"), "utf8");
  const { repository } = JSON.parse(manifest) as { repository: { url: string } };
  assert.equal(MANUAL, repository.url.replace(/^git\+(.*)\.git$/, "$1/blob/main/docs/"));
});

const pages = [
  START_PAGE,
  DIAGNOSTICS_PAGE,
  SETTINGS_PAGE,
  ...reportedCodes.map(pageOfCode),
  ...Object.keys(diagnosticCodes).map(pageOfDiagnostic),
  ...rowsOf(table).flatMap(({ name, aliases }) => [name, ...aliases].map(pageOfSetting)),
];

test("each page that a message can name exists, and has its anchor once", () => {
  const texts = new Map<string, string>();
  for (const page of pages) {
    const [file = "", anchor] = page.split("#");
    const text = texts.get(file) ?? readFileSync(join(root, "docs", file), "utf8");
    texts.set(file, text);
    if (anchor === undefined) continue;
    const headings = [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading]) =>
      heading!.toLowerCase().replaceAll(" ", "-"),
    );
    const own = [...text.matchAll(/<a id="([^"]+)"><\/a>/g)].map(([, id]) => id!);
    assert.equal([...headings, ...own].filter((id) => id === anchor).length, 1, page);
  }
});

test("an error with a code of Tollgate has a page, and another one has none", () => {
  assert.equal(
    pageOfError(Object.assign(new Error(), { code: "BAD_CERTIFICATES" })),
    "errors.md#BAD_CERTIFICATES",
  );
  for (const other of [new Error("x"), Object.assign(new Error(), { code: "EADDRINUSE" }), "x", null])
    assert.equal(pageOfError(other), undefined);
});

test("a line names its page", () => {
  assert.equal(withPage("it fails", "errors.md#STORE_FULL"), "it fails (docs: errors.md#STORE_FULL)");
  assert.equal(withPage("it fails", undefined), "it fails");
});

/** The pages of the manual that errors name exist. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { StartError } from "../routing/start-error.ts";
import { LauncherError } from "./launcher-error.ts";
import { MANUAL, PAGES, withPage } from "./manual-pages.ts";

const root = join(import.meta.dirname, "../../../..");

test("the manual is published in the repository that package.json names", () => {
  const manifest = readFileSync(join(root, "packages/waymark/package.json"), "utf8");
  const { repository } = JSON.parse(manifest) as { repository: { url: string } };
  assert.equal(MANUAL, repository.url.replace(/^git\+(.*)\.git$/, "$1/blob/main/docs/"));
});

for (const [code, page] of Object.entries(PAGES))
  test(`${code}: ${page} exists, and has its anchor once`, () => {
    const [file = "", anchor] = page.split("#");
    const text = readFileSync(join(root, "docs", file), "utf8");
    if (anchor === undefined) return;
    const headings = [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading]) =>
      heading!.toLowerCase().replaceAll(" ", "-"),
    );
    const own = [...text.matchAll(/<a id="([^"]+)"><\/a>/g)].map(([, id]) => id!);
    assert.equal([...headings, ...own].filter((id) => id === anchor).length, 1);
  });

test("docs/errors.md has each code", () => {
  const text = readFileSync(join(root, "docs/errors.md"), "utf8");
  for (const code of Object.keys(PAGES)) assert.ok(text.includes(`<a id="${code}"></a>`), code);
});

test("a message names the page of its error", () => {
  const cases: readonly (readonly [error: unknown, page: string | undefined])[] = [
    [new LauncherError("x"), "waymark/serving.md"],
    [new StartError("INVALID_VERB", "x"), "waymark/routing.md#verbs"],
    [Object.assign(new Error("x"), { code: "EADDRINUSE" }), undefined],
    [Object.assign(new Error("x"), { code: "constructor" }), undefined],
    [new Error("x"), undefined],
    ["x", undefined],
  ];
  for (const [error, page] of cases)
    assert.equal(
      withPage("it fails", error),
      page === undefined ? "it fails" : `it fails\ndocs: ${MANUAL}${page}`,
    );
});

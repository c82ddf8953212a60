/** Every relative link in a Markdown page leads to a file of the repository, and every anchor to a heading. */
import assert from "node:assert/strict";
import { existsSync, globSync, readFileSync, statSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { test } from "node:test";

const root = join(import.meta.dirname, "..");
const pages = globSync("{,.changeset/,.github/**/,docs/**/,packages/*/**/,examples/**/,bench/**/}*.md", {
  cwd: root,
  exclude: (path) => /(?:^|\/)(?:node_modules|dist|out)(?:\/|$)/.test(path),
}).sort();

/** The page without its fenced code, in which brackets are not links. */
function prose(page: string): string {
  return page.replaceAll(/^```[\s\S]*?^```$/gm, "");
}

/** The anchors of a page: those that GitHub gives to its headings, and its own. */
function anchorsOf(page: string): ReadonlySet<string> {
  const anchors = new Set<string>();
  for (const [, id] of prose(page).matchAll(/<a id="([^"]+)"><\/a>/g)) {
    assert.ok(!anchors.has(id!), `two anchors #${id}`);
    anchors.add(id!);
  }
  for (const [, heading] of prose(page).matchAll(/^#{1,6} +(.+?) *$/gm)) {
    const text = heading!.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1").toLowerCase();
    const plain = text.replaceAll(/[^\p{L}\p{N}\p{M}_ -]/gu, "").replaceAll(" ", "-");
    let anchor = plain;
    for (let count = 1; anchors.has(anchor); count++) anchor = `${plain}-${count}`;
    anchors.add(anchor);
  }
  return anchors;
}

/** The fault of a link; undefined if there is none. */
function faultOf(page: string, target: string): string | undefined {
  const [path = "", anchor] = target.split("#");
  const file = path === "" ? page : join(dirname(page), decodeURI(path));
  if (relative(root, join(root, file)).startsWith("..")) return "leads out of the repository";
  if (!existsSync(join(root, file))) return `no file ${file}`;
  if (anchor === undefined) return undefined;
  if (statSync(join(root, file)).isDirectory()) return `${file} is a folder and has no anchors`;
  const anchors = anchorsOf(readFileSync(join(root, file), "utf8"));
  return anchors.has(anchor)
    ? undefined
    : `no anchor "#${anchor}" in ${file}; it has ${[...anchors].join(", ")}`;
}

test("the pages are found", () => {
  for (const page of ["README.md", "docs/rules.md", "docs/waymark/README.md", "packages/tollgate/README.md"])
    assert.ok(pages.includes(page), page);
});

test("the check finds a missing file, a missing anchor and a link out of the repository", () => {
  assert.equal(faultOf("README.md", "docs/rules.md#the-first-rule"), undefined);
  assert.equal(faultOf("README.md", "docs/settings.md#PORT"), undefined);
  assert.equal(faultOf("docs/rules.md", "no-page.md"), "no file docs/no-page.md");
  assert.match(faultOf("README.md", "docs/rules.md#nowhere") ?? "", /^no anchor "#nowhere"/);
  assert.equal(faultOf("README.md", "../elsewhere.md"), "leads out of the repository");
});

/** The README of a published package, which the registry shows without the repository around it. */
const PUBLISHED = /^packages\/[^/]+\/README\.md$/;
const WEB = "https://github.com/tollway/tollway/";

for (const page of pages)
  test(`links of ${page}`, () => {
    const text = prose(readFileSync(join(root, page), "utf8"));
    const links = [...text.matchAll(/\]\(\s*<?([^)\s>]+)>?[^)]*\)|^\[[^\]]+\]: +(\S+)/gm)];
    for (const [, inline, reference] of links) {
      const target = inline ?? reference!;
      const own = new RegExp(`^${WEB}(?:blob|tree)/main/(.+)$`).exec(target)?.[1];
      if (own !== undefined) assert.equal(faultOf("README.md", own), undefined, `${page}: ${target}`);
      if (PUBLISHED.test(page)) assert.match(target, /^(?:https:|#)/, `${page}: an absolute link`);
      if (/^[a-z][a-z+.-]*:/i.test(target)) continue;
      assert.equal(faultOf(page, target), undefined, `${page}: ${target}`);
    }
  });

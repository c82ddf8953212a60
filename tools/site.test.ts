/** The documentation site's menus and its copy of the pages. */
import assert from "node:assert/strict";
import { globSync } from "node:fs";
import { describe, test } from "node:test";
import { docs, pageForSite } from "../website/content.ts";
import { addressOf, allPages } from "../website/navigation.ts";
import { entriesOf, faultsOf, tidied } from "../website/reference.ts";
import { titleOf } from "../website/titles.ts";

test("each page of docs/ is in one menu of the site", () => {
  assert.deepEqual(allPages().sort(), globSync("**/*.md", { cwd: docs }).sort());
});

test("each page has a title", () => {
  for (const page of allPages()) assert.notEqual(titleOf(page), "");
});

describe("addresses of pages", () => {
  const rows: [page: string, address: string][] = [
    ["index.md", "/"],
    ["rules.md", "/rules"],
    ["waymark/README.md", "/waymark/"],
    ["waymark/types.md", "/waymark/types"],
  ];
  for (const [page, address] of rows) test(page, () => assert.equal(addressOf(page), address));
});

test("the reference has a page for each entry point that programs import", () => {
  const entries = entriesOf("tollgate").map(({ name, page }) => [name, page]);
  assert.deepEqual(entries, [
    ["@tollway/tollgate", "reference/tollgate.md"],
    ["@tollway/tollgate/limits", "reference/tollgate-limits.md"],
  ]);
});

test("a missing docstring and a type that is not exported are faults of the reference", () => {
  const printed = [
    "[info] Loaded plugin",
    "[warning] waymark/src.HttpError.code (Property), defined in @tollway/waymark, does not have any documentation",
    "[warning] grpc-wire/src.ListenOptions.__type.port (Property), defined in x, does not have any documentation",
    "[warning] Fault, defined in @tollway/tollgate/src, is referenced by SettingsError but not included in the docs",
    "[warning] Words, defined in @tollway/waymark/src, is referenced by PropertyOfClass but not included in the docs",
    "[warning] Found 0 errors and 4 warnings",
  ];
  assert.deepEqual(
    faultsOf(printed.join("\n")).map((fault) => fault.split(/[ ,]/)[0]),
    ["waymark/src.HttpError.code", "Fault"],
  );
});

test("the reference leaves out facts that the signature shows", () => {
  const page = [
    ...["#### get", "", "> get(): `string`", "", "Gets it.", "", "##### Returns", "", "`string`", ""],
    ...[
      "##### Inherited from",
      "",
      "[`Base`](#base).`get`",
      "",
      "#### put",
      "",
      "##### Returns",
      "",
      "`number`",
      "",
    ],
    ...["the count", ""],
  ];
  const shown = [
    "#### get",
    "",
    "> get(): `string`",
    "",
    "Gets it.",
    "",
    "#### put",
    "",
    "##### Returns",
    "",
  ];
  assert.equal(tidied(page.join("\n")), [...shown, "`number`", "", "the count", ""].join("\n"));
});

describe("the site's copy of a page", () => {
  const rows: [name: string, page: string, text: string, copy: string][] = [
    ["a language", "a.md", "```yaml\na: 1\n```\n", "```yaml\na: 1\n```\n"],
    [
      "a language that the highlighter does not know",
      "a.md",
      "```console\n$ x\n```",
      "```shellsession\n$ x\n```",
    ],
    ["marks for the tests", "a.md", "```sh service\nx\n```", "```sh\nx\n```"],
    ["marks with a number", "a.md", "```sh exit=3\nx\n```", "```sh\nx\n```"],
    ["a file name", "a.md", "```ts a/b.ts\nx\n```", '```ts title="a/b.ts"\nx\n```'],
    ["a file name with its key", "a.md", "```ts file=a/b.ts\nx\n```", '```ts title="a/b.ts"\nx\n```'],
    ["a comment", "a.md", "a\n<!-- test: x -->\nb", "a\nb"],
    ["a comment in a block", "a.md", "```html\n<!-- x -->\n```", "```html\n<!-- x -->\n```"],
    ["a link to a page", "a.md", "[x](rules.md#the-first-rule)", "[x](./rules.md#the-first-rule)"],
    ["a link in the folder above", "waymark/a.md", "[x](../rules.md)", "[x](../rules.md)"],
    ["a link to a README", "a.md", "[x](waymark/README.md#a)", "[x](./waymark/index.md#a)"],
    ["a link within the page", "a.md", "[x](#y)", "[x](#y)"],
    ["a link to the web", "a.md", "[x](https://example.com/a.md)", "[x](https://example.com/a.md)"],
    [
      "a file of the repository",
      "a.md",
      "[x](../LICENSE)",
      "[x](https://github.com/tollway/tollway/blob/main/LICENSE)",
    ],
    [
      "a folder",
      "waymark/a.md",
      "[x](../../deploy)",
      "[x](https://github.com/tollway/tollway/tree/main/deploy)",
    ],
    ["a reference", "a.md", "[x]: rules.md\n", "[x]: ./rules.md\n"],
    ["a picture", "a.md", "![x](limits/a.svg)", "![x](./limits/a.svg)"],
    [
      "tabs",
      "a.md",
      "a\n\n<!-- tabs -->\n**npm**\n\n```sh service\nx\n**y**\n```\n\n**Docker**\n\nb\n<!-- /tabs -->\n",
      'import { Tab, Tabs } from "@rspress/core/theme";\n\na\n\n<Tabs>\n<Tab label="npm">\n\n```sh\nx\n**y**\n```\n\n</Tab>\n<Tab label="Docker">\n\nb\n\n</Tab>\n</Tabs>\n',
    ],
    ["brackets in a block", "a.md", "```ts\n[a](b.md)\n```", "```ts\n[a](b.md)\n```"],
  ];
  for (const [name, page, text, copy] of rows) test(name, () => assert.equal(pageForSite(page, text), copy));
});

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, suite, test } from "node:test";
import { BindFaults } from "./bind/bind-faults.ts";
import { compileBinder } from "./bind/binder.ts";
import { CompiledFiles } from "./compiled.fixture.ts";
import { sameType } from "./compiler/same-type.ts";
import { CONSTRUCTS, REFUSED } from "./constructs.fixture.ts";
import type { MethodSignature } from "./model/signature.ts";

const all = { ...CONSTRUCTS, ...REFUSED };
const fileOf = (name: string): string => `case-${Object.keys(all).indexOf(name)}.ts`;
// `it` is positional, because another parameter follows.
const files = new CompiledFiles(
  Object.fromEntries(
    Object.entries(all).map(([name, { declarations = "", type }]) => [
      fileOf(name),
      `${declarations} export class Example { POST(it: ${type}, after?: string) {} }`,
    ]),
  ),
);
after(() => files.close());

function accepts(signature: MethodSignature, it: unknown): boolean {
  const result = compileBinder(signature).bind({
    segments: [],
    query: "",
    body: { kind: "json", value: { it } },
  });
  return !(result instanceof BindFaults);
}

suite("a construct accepts what TypeScript accepts", () => {
  for (const [name, { type, by, accepts: fitting, refuses }] of Object.entries(CONSTRUCTS)) {
    test(`${name}: ${type}`, () => {
      const signature = files.signature(fileOf(name), "with");
      for (const value of fitting) assert.ok(accepts(signature, value), `refused ${JSON.stringify(value)}`);
      for (const value of refuses) assert.ok(!accepts(signature, value), `accepted ${JSON.stringify(value)}`);
      if (by === "compiler") {
        assert.throws(() => files.signature(fileOf(name), "without"), { code: "UNREADABLE_TYPE" });
        return;
      }
      const source = files.signature(fileOf(name), "without");
      const [{ type: own }] = source.parameters as [MethodSignature["parameters"][0]];
      const read = { type: own, definitions: source.definitions };
      const checked = files.checkedType(fileOf(name));
      assert.ok(sameType(read, checked), `${JSON.stringify(read)}\n${JSON.stringify(checked)}`);
    });
  }
});

suite("a construct that no request can carry prevents the start", () => {
  for (const [name, { type, error }] of Object.entries(REFUSED)) {
    test(`${name}: ${type}`, () => {
      assert.throws(
        () => files.signature(fileOf(name), "with"),
        (thrown: Error) => {
          assert.match(thrown.message, error);
          assert.ok(thrown.message.startsWith(files.path(fileOf(name))), thrown.message);
          return true;
        },
      );
    });
  }
});

test("without TypeScript, the error names what to install", () => {
  assert.throws(() => files.signature(fileOf("infer"), "missing"), {
    code: "UNREADABLE_TYPE",
    message:
      /case-\d+\.ts:1:\d+: cannot read the type .*`static schema`.*`unknown`\. TypeScript's compiler may read it, but TypeScript is not installed: run `npm i`/,
  });
});

test("the manual lists every construct", () => {
  const page = readFileSync(new URL("../../../../docs/waymark/types.md", import.meta.url), "utf8");
  const cell = (text: string): string => text.replaceAll("|", "\\|");
  const code = (text: string): string =>
    text.includes("`") ? `\`\` ${cell(text)} \`\`` : `\`${cell(text)}\``;
  const rows = [
    "| construct | type | read by |",
    "|---|---|---|",
    ...Object.entries(CONSTRUCTS).map(([name, { type, by }]) => `| ${name} | ${code(type)} | ${by} |`),
  ];
  const refused = [
    "| construct | type |",
    "|---|---|",
    ...Object.entries(REFUSED).map(([name, { type }]) => `| ${name} | ${code(type)} |`),
  ];
  assert.ok(page.includes(rows.join("\n")), `docs/waymark/types.md needs:\n${rows.join("\n")}`);
  assert.ok(page.includes(refused.join("\n")), `docs/waymark/types.md needs:\n${refused.join("\n")}`);
});

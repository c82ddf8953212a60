/** Every exported function and class has an example in its docstring, and TypeScript accepts all examples. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { after, test } from "node:test";
import {
  type Example,
  entryModules,
  examplesBelow,
  examplesOf,
  namesWithoutExample,
} from "./docstring-examples.ts";

const root = join(import.meta.dirname, "..");
const packages = ["grpc-wire", "waymark", "tollgate"].map((name) => join(root, "packages", name));

test("an example is found with its line, and a broken one is an error of the compiler", () => {
  const source = [
    ...["/**", " * Adds.", " * @example", " * ```ts", " * add(1,", " *", " *   2);", " * ```", " */"],
    "export function add() {}",
    "",
  ].join("\n");
  assert.deepEqual(examplesOf("a.ts", source), [{ file: "a.ts", line: 3, code: "add(1,\n\n  2);\n" }]);
  assert.match(compile([{ file: "a.ts", line: 3, code: "export const a: string = 1;\n" }]), /TS2322/);
});

for (const folder of packages)
  test(`each function and class that ${relative(root, folder)} exports has an example`, () => {
    assert.deepEqual(entryModules(folder).flatMap(namesWithoutExample), []);
  });

test("TypeScript accepts the examples", () => {
  const examples = packages.flatMap((folder) => examplesBelow(join(folder, "src")));
  assert.ok(examples.length > 40, `${examples.length} examples`);
  assert.equal(compile(examples), "");
});

/** The errors of the compiler, with the files of the examples. */
function compile(examples: readonly Example[]): string {
  const folder = mkdtempSync(join(tmpdir(), "tollway-examples-"));
  after(() => rmSync(folder, { recursive: true, force: true }));
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  const settings = {
    extends: join(root, "tsconfig.json"),
    include: ["*.mts"],
    compilerOptions: { noEmit: true },
  };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(settings));
  const names = new Map(examples.map((example, at) => [`example-${at}.mts`, example]));
  // An example without an import is a module all the same.
  for (const [name, { code }] of names) writeFileSync(join(folder, name), `${code}export {};\n`);
  const tsc = join(root, "node_modules", ".bin", "tsc");
  const { stdout } = spawnSync(tsc, ["--pretty", "false", "-p", folder], { encoding: "utf8", cwd: folder });
  return stdout.replaceAll(/example-\d+\.mts/g, (name) => {
    const { file, line } = names.get(name)!;
    return `${relative(root, file)}:${line}, line of the example `;
  });
}

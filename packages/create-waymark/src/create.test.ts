import assert from "node:assert/strict";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { create } from "./create.ts";

const REPOSITORY = join(import.meta.dirname, "..", "..", "..");
const TEMPLATE = join(import.meta.dirname, "..", "template");

const root = mkdtempSync(join(tmpdir(), "create-waymark-"));
after(() => rmSync(root, { recursive: true }));

function read(folder: string, file: string): string {
  return readFileSync(join(folder, file), "utf8");
}

test("the files have the name of the folder and the version of Waymark", () => {
  const folder = join(root, "deep", "shop-2");
  const files = create({ folder, language: "typescript", version: "1.2.3" });
  assert.deepEqual(
    files.filter((file) => !existsSync(join(folder, file))),
    [],
  );
  const { name, dependencies } = JSON.parse(read(folder, "package.json"));
  assert.equal(name, "shop-2");
  assert.equal(dependencies["@tollway/waymark"], "^1.2.3");
  for (const file of files) assert.doesNotMatch(read(folder, file), /my-api/, file);
  assert.match(read(folder, "README.md"), /^# shop-2/);
});

test("both languages have the same files", () => {
  const [typescript, javascript] = (["typescript", "javascript"] as const).map((language) =>
    create({ folder: join(root, language), language, version: "1.0.0" }),
  );
  const renamed = typescript!.filter((file) => file !== "tsconfig.json");
  assert.deepEqual(renamed.map((file) => file.replace(/\.ts$/, ".js")).sort(), javascript);
});

test("the compiler and the types of Node are those of the repository", () => {
  const repository = JSON.parse(read(REPOSITORY, "package.json"));
  for (const language of ["typescript", "javascript"]) {
    const { devDependencies } = JSON.parse(read(join(TEMPLATE, language), "package.json"));
    for (const [name, range] of Object.entries(devDependencies))
      assert.equal(range, `^${repository.devDependencies[name]}`, name);
  }
});

test("npm finds a decision about each install script, and prints no warning", () => {
  const { packages } = JSON.parse(read(REPOSITORY, "package-lock.json"));
  const waymark = Object.keys(packages["packages/waymark"].dependencies);
  for (const language of ["typescript", "javascript"]) {
    const { devDependencies, allowScripts } = JSON.parse(read(join(TEMPLATE, language), "package.json"));
    const scripted = [...waymark, ...Object.keys(devDependencies)].filter(
      (name) => packages[`node_modules/${name}`].hasInstallScript,
    );
    assert.deepEqual(Object.keys(allowScripts ?? {}), scripted, language);
  }
});

test("a folder with only a repository of git counts as empty", () => {
  const folder = join(root, "cloned");
  mkdirSync(join(folder, ".git"), { recursive: true });
  create({ folder, language: "javascript", version: "1.0.0" });
  assert.ok(existsSync(join(folder, "app.js")));
});

mkdirSync(join(root, "full"));
writeFileSync(join(root, "full", "kept.txt"), "");
writeFileSync(join(root, "file"), "");
const refused: readonly (readonly [folder: string, reason: RegExp])[] = [
  ["full", /full is not empty \(it has kept\.txt\)/],
  ["file", /file is a file/],
  ["My Api", /npm does not accept "My Api" as a package name: use lower-case letters/],
  [".hidden", /does not accept "\.hidden" as a package name/],
  ["node_modules", /does not accept "node_modules" as a package name/],
];
for (const [name, reason] of refused) {
  test(`refused: ${name}`, () => {
    const folder = join(root, name);
    assert.throws(() => create({ folder, language: "typescript", version: "1.0.0" }), {
      code: "CREATE",
      message: reason,
    });
  });
}

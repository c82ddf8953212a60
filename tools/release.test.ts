import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

const root = join(import.meta.dirname, "..");

function read<Content>(path: string): Content {
  return JSON.parse(readFileSync(join(root, path), "utf8")) as Content;
}

// A new project depends on the version of Waymark that `create-waymark` itself has.
test("all published packages are released with the same version", () => {
  const packages = globSync("packages/*/package.json", { cwd: root })
    .map((path) => read<{ name: string; version: string; private?: boolean }>(path))
    .filter((each) => each.private !== true);
  const { fixed } = read<{ fixed: string[][] }>(".changeset/config.json");
  assert.deepEqual(fixed, [packages.map(({ name }) => name).sort()]);
  assert.equal(new Set(packages.map(({ version }) => version)).size, 1);
});

import assert from "node:assert/strict";
import { globSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { generate } from "../../proto/generate.ts";

const committed = join(import.meta.dirname, "..", "..", "src", "protocol", "gen");

function contents(folder: string): Map<string, string> {
  const files = globSync("**/*.ts", { cwd: folder }).sort();
  return new Map(files.map((file) => [file, readFileSync(join(folder, file), "utf8")]));
}

test("the generated protocol code is what the protocol files give", () => {
  const folder = mkdtempSync(join(tmpdir(), "tollgate-proto-"));
  try {
    const out = join(folder, "gen");
    generate(out);
    const fresh = contents(out);
    assert.ok(fresh.size >= 11, `only ${fresh.size} files were generated`);
    assert.deepEqual(contents(committed), fresh);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

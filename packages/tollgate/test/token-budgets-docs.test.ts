/** docs/token-budgets.md, block by block, with a running service. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { blocksOf, PageReader } from "./page-reader.ts";

const repository = join(import.meta.dirname, "../../..");

test("docs/token-budgets.md: each command prints the answer below it", async () => {
  const page = readFileSync(join(repository, "docs/token-budgets.md"), "utf8");
  assert.equal(blocksOf(page).filter(({ printed }) => printed !== undefined).length, 5);
  const folder = await mkdtemp(join(tmpdir(), "tollgate-budgets-"));
  const reader = new PageReader({ folder, placeholders: { "<id>": /"reservationId":"([0-9a-f]{40})"/ } });
  try {
    await symlink(join(repository, "node_modules"), join(folder, "node_modules"));
    await reader.read(page);
  } finally {
    await reader.close();
    await rm(folder, { recursive: true });
  }
});

/** docs/operating-counters.md, block by block, with a running service. */
import { readFileSync } from "node:fs";
import { mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { PageReader } from "./page-reader.ts";

const repository = join(import.meta.dirname, "../../..");

test("docs/operating-counters.md", async () => {
  const folder = await mkdtemp(join(tmpdir(), "tollgate-operating-"));
  const reader = new PageReader({ folder, adapt: (text) => text.replace("ADMIN_PORT=8082", "ADMIN_PORT=0") });
  try {
    await symlink(join(repository, "node_modules"), join(folder, "node_modules"));
    await reader.read(readFileSync(join(repository, "docs/operating-counters.md"), "utf8"));
  } finally {
    await reader.close();
    await rm(folder, { recursive: true });
  }
});

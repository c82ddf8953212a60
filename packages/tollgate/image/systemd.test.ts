import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

test("systemd-analyze verify has nothing to say about deploy/systemd/tollgate.service", () => {
  const unit = readFileSync(new URL("../../../deploy/systemd/tollgate.service", import.meta.url), "utf8");
  const folder = mkdtempSync(join(tmpdir(), "tollgate-systemd-"));
  try {
    const file = join(folder, "tollgate.service");
    // The check needs a command that exists.
    writeFileSync(file, unit.replace("/usr/bin/tollgate", process.execPath));
    const { status, stdout, stderr } = spawnSync("systemd-analyze", ["verify", file], { encoding: "utf8" });
    assert.deepEqual([status, stdout + stderr], [0, ""]);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

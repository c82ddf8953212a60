import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

test("hadolint has nothing to say about the Dockerfile", () => {
  const dockerfile = fileURLToPath(new URL("../../../Dockerfile", import.meta.url));
  const { status, stdout } = spawnSync(process.env.HADOLINT!, ["--failure-threshold", "style", dockerfile], {
    encoding: "utf8",
  });
  assert.equal(status, 0, stdout);
});

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

/** Tollgate's, and that of the projects that `npm create @tollway/waymark` makes. */
const DOCKERFILES = ["Dockerfile", "packages/create-waymark/template/shared/Dockerfile"];

for (const path of DOCKERFILES)
  test(`hadolint has nothing to say about ${path}`, () => {
    const file = fileURLToPath(new URL(`../../../${path}`, import.meta.url));
    const { status, stdout } = spawnSync(process.env.HADOLINT!, ["--failure-threshold", "style", file], {
      encoding: "utf8",
    });
    assert.equal(status, 0, stdout);
  });

import assert from "node:assert/strict";
import { test } from "node:test";
import { readArguments } from "./arguments.ts";

// npm removes the `--` of `npm create @tollway/waymark my-api -- --javascript`. Other package managers pass it on.
for (const args of [
  ["my-api", "--javascript"],
  ["my-api", "--", "--javascript"],
  ["--javascript", "--", "my-api"],
])
  test(args.join(" "), () => {
    const { folder, language } = readArguments(args);
    assert.deepEqual([folder, language], ["my-api", "javascript"]);
  });

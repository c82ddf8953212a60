import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, test } from "node:test";
import { timingFiles } from "./timing-files.ts";

const root = mkdtempSync(join(tmpdir(), "tollway-timing-"));
after(() => rmSync(root, { recursive: true }));

function write(files: Readonly<Record<string, string>>): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
}

write({
  "packages/a/test/until.ts": 'import { setTimeout as sleep } from "node:timers/promises";\n',
  "packages/a/test/server.ts": 'import { until } from "./until.ts";\n',
  "packages/a/test/clock.ts": "export const day = () => Date.now() / 86_400_000;\n",
  "packages/a/test/one.ts": 'import "./two.ts";\n',
  "packages/a/test/two.ts": 'import "./one.ts";\n',
  "packages/a/src/source.ts": "setTimeout(() => {}, 5);\n",
  "packages/a/src/wait.fixture.ts": "setTimeout(() => {}, 5);\n",
});

const cases: readonly [name: string, text: string, picked: boolean][] = [
  ["a timer", "setTimeout(() => {}, 5);", true],
  ["a clock", "const now = performance.now();", true],
  ["a scaled limit", "const limit = scaled(5);", true],
  ["a scaled limit of a wait", "if (isTimeUp(begun, 5)) throw late;", true],
  ["only a comment", "// no setTimeout\n/**\n * Date.now\n */\nconst a = 5;", false],
  ["a helper that waits", 'import { until } from "./until.ts";', true],
  ["a helper of a helper", 'import { start } from "./server.ts";', true],
  ["a helper that is imported late", 'const { until } = await import("./until.ts");', true],
  ["a helper that only reads a clock", 'import { day } from "./clock.ts";', false],
  ["helpers in a circle", 'import "./one.ts";', false],
  ["a source with a timer", 'import { source } from "../src/source.ts";', false],
  ["a fixture beside the sources", 'import { wait } from "../src/wait.fixture.ts";', true],
  ["a missing file", 'import { wait } from "./missing.ts";', false],
];

for (const [name, text, picked] of cases)
  test(`${name}: ${picked ? "picked" : "not picked"}`, () => {
    const file = "packages/a/test/case.test.ts";
    write({ [file]: text });
    assert.deepEqual(timingFiles([file], root), picked ? [file] : []);
  });

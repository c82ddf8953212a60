import assert from "node:assert/strict";
import {
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  symlinkSync,
  watch,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, test } from "node:test";
import { scaled } from "../../../../tools/time-scale.ts";
import { DirectoryWatches } from "./directory-watches.ts";

let root: string;
let events: string[];
let wake: (() => void) | undefined;
let watches: DirectoryWatches;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "tollgate-watching-"));
  events = [];
  watches = new DirectoryWatches({
    onEvent: (directory, name) => {
      events.push(join(directory, name ?? ""));
      wake?.();
    },
    watch,
    persistent: true,
  });
});
afterEach(() => {
  watches.close();
  rmSync(root, { recursive: true, force: true });
});

async function seen(path: string): Promise<void> {
  while (!events.includes(path)) await new Promise<void>((resolve) => (wake = resolve));
}

test("a directory that was removed and created again is watched after an update", {
  timeout: scaled(20_000),
}, async () => {
  const directory = join(root, "d");
  mkdirSync(directory);
  assert.deepEqual(watches.update(new Set([directory])), []);
  const inode = statSync(directory).ino;
  for (let tries = 0; tries < 20; tries++) {
    rmdirSync(directory);
    mkdirSync(directory);
    if (statSync(directory).ino === inode) break;
  }
  await seen(join(directory, "d"));
  assert.deepEqual(watches.update(new Set([directory])), []);
  writeFileSync(join(directory, "file"), "");
  await seen(join(directory, "file"));
});

test("an unreadable directory yields a message, and is watched once it is readable", {
  timeout: scaled(20_000),
}, async () => {
  const directory = join(root, "d");
  mkdirSync(directory);
  watches.update(new Set([directory]));
  renameSync(directory, `${directory}.away`);
  symlinkSync(directory, directory);
  assert.match(watches.update(new Set([directory])).join(), /ELOOP/);
  rmSync(directory);
  assert.match(watches.update(new Set([directory])).join(), /ENOENT/);
  renameSync(`${directory}.away`, directory);
  assert.deepEqual(watches.update(new Set([directory])), []);
  writeFileSync(join(directory, "file"), "");
  await seen(join(directory, "file"));
});

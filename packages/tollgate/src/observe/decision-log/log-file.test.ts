import assert from "node:assert/strict";
import { readFileSync, renameSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, beforeEach, describe, it } from "node:test";
import { createLogger, type Logger } from "../log.ts";
import { LogFile } from "./log-file.ts";

/** A logger that keeps its lines. */
function keepingLogger(): { readonly log: Logger; readonly lines: string[] } {
  const lines: string[] = [];
  const writer = { write: (line: string) => void lines.push(line), dropped: 0, flush: async () => {} };
  return { log: createLogger({ writer }), lines };
}

describe("the file of the log of decisions", () => {
  let folder: string;
  let path: string;
  let now: number;
  let number = 0;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "tollgate-decisions-"));
  });
  after(() => rm(folder, { recursive: true, force: true }));
  beforeEach(() => {
    path = join(folder, `${++number}.jsonl`);
    now = 0;
  });

  const open = (options: { maxHeldBytes?: number } = {}, { log } = keepingLogger()) =>
    LogFile.open(path, { log, now: () => now, ...options });
  async function write(file: LogFile, ...lines: string[]): Promise<void> {
    for (const line of lines) file.write(`${line}\n`);
    await file.flush(10_000);
  }

  it("gets lines appended, in order, and other users of the machine cannot read it", async () => {
    writeFileSync(path, "before\n", { mode: 0o640 });
    rmSync(path);
    const file = await open();
    await write(file, "a", "b");
    await write(file, "c");
    await file.close(0);
    assert.equal(readFileSync(path, "utf8"), "a\nb\nc\n");
    assert.equal(statSync(path).mode & 0o007, 0);
    const again = await open();
    await write(again, "d");
    await again.close(0);
    assert.equal(readFileSync(path, "utf8"), "a\nb\nc\nd\n");
  });

  it("is opened again after a rename or a removal", async () => {
    const file = await open();
    await write(file, "a");
    renameSync(path, `${path}.1`);
    await write(file, "b");
    assert.equal(readFileSync(`${path}.1`, "utf8"), "a\nb\n", "no look within a second");
    now += 1000;
    await write(file, "c");
    rmSync(path);
    now += 1000;
    await write(file, "d");
    await file.close(0);
    assert.equal(readFileSync(`${path}.1`, "utf8"), "a\nb\n");
    assert.equal(readFileSync(path, "utf8"), "d\n");
    assert.equal(file.dropped, 0);
  });

  it("goes on from its start after copytruncate", async () => {
    const file = await open();
    await write(file, "a");
    truncateSync(path);
    await write(file, "b");
    await file.close(0);
    assert.equal(readFileSync(path, "utf8"), "b\n");
  });

  it("drops and counts lines while the disk is full, and says so once", async () => {
    const { log, lines } = keepingLogger();
    const full = await LogFile.open(path, { log, now: () => now });
    await write(full, "a");
    // As if the folder were on a full disk: a folder in place of the file cannot be written.
    rmSync(path);
    const { mkdirSync } = await import("node:fs");
    mkdirSync(path);
    now += 1000;
    await write(full, "b", "c");
    await write(full, "d");
    assert.equal(full.dropped, 3);
    assert.equal(lines.length, 1);
    assert.match(lines[0]!, /level=error msg="cannot write the log of decisions: /);
    rmSync(path, { recursive: true });
    await write(full, "e");
    await full.close(0);
    assert.equal(readFileSync(path, "utf8"), "e\n");
  });

  it("never holds more than its bound for a slow disk", async () => {
    const file = await open({ maxHeldBytes: 10 });
    for (const line of ["aaaa", "bbbb", "cccc", "dddd"]) file.write(`${line}\n`);
    assert.equal(file.dropped, 2);
    await file.flush(10_000);
    await write(file, "e");
    await file.close(0);
    assert.equal(readFileSync(path, "utf8"), "aaaa\nbbbb\ne\n");
  });

  it("must be a regular file", async () => {
    await assert.rejects(LogFile.open("/dev/null", { log: keepingLogger().log }), {
      code: "NOT_A_REGULAR_FILE",
      message: "/dev/null is not a regular file; use a file, or stdout",
    });
    await assert.rejects(LogFile.open(join(folder, "no", "file"), { log: keepingLogger().log }), {
      code: "ENOENT",
    });
  });
});

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, type TestContext, test } from "node:test";
import { makeAcquire } from "../../../test/counters/acquire-conformance.ts";
import { makeCount, makeRequest } from "../../../test/counters/conformance.ts";
import { makeSettle } from "../../../test/counters/reservation-conformance.ts";
import { Step } from "../reservations.ts";
import { EmbeddedStore } from "./embedded-store.ts";

const NOW = 1_800_000_000_000;
const START = NOW / 1000;

function folder(t: TestContext): string {
  const path = mkdtempSync(join(tmpdir(), "tollgate-snapshot-"));
  t.after(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

/** Opens a store on a snapshot, with its reports. */
async function open(snapshotPath: string, now = NOW) {
  const problems: string[] = [];
  const store = await EmbeddedStore.open({
    sizeInBytes: 16 * 1024 ** 2,
    snapshotPath,
    clock: () => now,
    reclaimInterval: 0,
    report: (problem) => problems.push(problem),
  });
  return { store, problems };
}

function add(store: EmbeddedStore, stem: string, hits: number, windowSize = 3600): number {
  const count = makeCount({ stem, hits, windowStart: START, windowSize });
  store.count(makeRequest([count], { now: NOW }));
  return count.after;
}

/** Stems of every kind of key: Latin-1, UTF-16, a digest, the empty one, a lone surrogate. */
const stems = [
  "",
  "d|k=v|hour:",
  "d|k=ü|hour:",
  "d|k=日本|hour:",
  "d|k=\ud800|hour:",
  `d|k=${"x".repeat(5000)}|hour:`,
];

describe("snapshot of the embedded store", () => {
  test("keeps every counter over a graceful restart", async (t) => {
    const path = join(folder(t), "counters");
    const first = await open(path);
    for (const [index, stem] of stems.entries()) add(first.store, stem, index + 1);
    for (let index = 0; index < 20_000; index++) add(first.store, `d|many=${index}|hour:`, index + 1);
    add(first.store, "d|saturated=1|hour:", Number.MAX_SAFE_INTEGER);
    await first.store.close();
    await first.store.close();
    assert.equal(statSync(path).mode & 0o777, 0o600);

    const second = await open(path);
    for (const [index, stem] of stems.entries()) assert.equal(add(second.store, stem, 0), index + 1, stem);
    for (let index = 0; index < 20_000; index++)
      assert.equal(add(second.store, `d|many=${index}|hour:`, 1), index + 2);
    assert.equal(add(second.store, "d|saturated=1|hour:", 0), Number.MAX_SAFE_INTEGER);
    assert.deepEqual([...first.problems, ...second.problems], []);
    assert.equal(second.store.statistics().liveCounters, first.store.statistics().liveCounters);
    await second.store.close();
  });

  test("keeps the debt and the granted tokens of a bucket", async (t) => {
    const path = join(folder(t), "counters");
    const limits = [
      { stem: "d|k=v|bucket:60", algorithm: "token_bucket" as const, limit: 5, windowSize: 86_400 },
    ];
    const ask = (store: EmbeddedStore, hits: number) => {
      const request = makeAcquire([{ limits, hits }], NOW);
      store.acquire(request);
      return request.groups[0]!.limits[0]!;
    };
    const charge = (store: EmbeddedStore, hits: number) =>
      store.settle(makeSettle({ step: Step.REPORT, limits, hits }, NOW));
    const first = await open(path);
    ask(first.store, 5);
    charge(first.store, 4);
    await first.store.admin().grant({ limit: ask(first.store, 0), isListed: false, hits: 7, now: NOW });
    assert.equal(ask(first.store, 0).remaining, 3);
    await first.store.close();
    const second = await open(path);
    assert.equal(ask(second.store, 0).remaining, 3);
    assert.equal(ask(second.store, 3).accepted, true);
    assert.equal(ask(second.store, 1).accepted, false);
    assert.deepEqual([...first.problems, ...second.problems], []);
    await second.store.close();
  });

  test("does not save counters of ended windows", async (t) => {
    const path = join(folder(t), "counters");
    const first = await open(path, NOW + 61_000);
    add(first.store, "over", 1, 60);
    add(first.store, "soon", 1, 3600);
    add(first.store, "later", 1, 86_400);
    await first.store.close();
    assert.ok(!readFileSync(path, "latin1").includes("over"));

    const second = await open(path, NOW + 61_000);
    assert.equal(second.store.statistics().liveCounters, 2);
    assert.equal(add(second.store, "soon", 0, 3600), 1);
    assert.equal(add(second.store, "later", 0, 86_400), 1);
    await second.store.close();
  });

  test("reports nothing at a first start without a snapshot", async (t) => {
    const { store, problems } = await open(join(folder(t), "counters"));
    assert.deepEqual(problems, []);
    await store.close();
  });

  test("writes an empty snapshot for an empty store", async (t) => {
    const path = join(folder(t), "counters");
    await (await open(path)).store.close();
    const again = await open(path);
    assert.deepEqual(again.problems, []);
    assert.equal(again.store.statistics().liveCounters, 0);
    await again.store.close();
  });

  test("reports and ignores a damaged snapshot, and replaces it at the next close", async (t) => {
    const path = join(folder(t), "counters");
    const first = await open(path);
    for (let index = 0; index < 10_000; index++) add(first.store, `d|k=${index}|hour:`, 1);
    await first.store.close();
    const whole = readFileSync(path);
    const change = (at: number, value: number) => {
      const copy = Buffer.from(whole);
      copy.writeUInt32LE(value, at);
      return copy;
    };
    const cases: [string, Buffer, RegExp][] = [
      ["an empty file", Buffer.alloc(0), /ends too early/],
      ["another file", Buffer.from("#!/bin/sh\necho not counters\n"), /does not start like a snapshot/],
      ["an older format", change(8, 1), /format is 1; .* reads formats 2 and 3/],
      ["a newer format", change(8, 4), /format is 4; .* reads formats 2 and 3/],
      ["cut in the header", whole.subarray(0, 12), /ends too early/],
      ["cut in the second block", whole.subarray(0, 300_000), /ends too early/],
      ["cut before its end", whole.subarray(0, whole.length - 8), /ends too early/],
      ["a length that is too long", change(24, 0xffff_ffff), /too long/],
      ["a flipped bit in the last block", change(whole.length - 40, 7), /fails its checksum/],
      ["the first block left out", Buffer.concat([whole.subarray(0, 24), lastBlock(whole)]), /are missing/],
    ];
    for (const [name, bytes, problem] of cases) {
      writeFileSync(path, bytes);
      const { store, problems } = await open(path);
      assert.equal(problems.length, 1, name);
      assert.match(problems[0]!, problem, name);
      assert.ok(problems[0]!.includes(path), "the report names the file");
      assert.equal(store.statistics().liveCounters, 0, name);
      assert.equal(add(store, "d|k=1|hour:", 1), 1, name);
      await store.close();
      const healed = await open(path);
      assert.deepEqual(healed.problems, [], name);
      assert.equal(add(healed.store, "d|k=1|hour:", 0), 1, name);
      await healed.store.close();
    }
  });

  test("keeps the last snapshot when the process is killed during a write", async (t) => {
    const path = join(folder(t), "counters");
    const first = await open(path);
    add(first.store, "d|k=v|hour:", 5);
    await first.store.close();
    writeFileSync(`${path}.unfinished`, readFileSync(path).subarray(0, 30));
    const second = await open(path);
    assert.deepEqual(second.problems, []);
    assert.equal(add(second.store, "d|k=v|hour:", 1), 6);
    await second.store.close();
    assert.ok(!existsSync(`${path}.unfinished`));
  });

  test("reports a snapshot that cannot be read or written, and continues", async (t) => {
    const path = folder(t);
    for (const [place, problem] of [
      [path, /^cannot save counters in .*: this path is not a file \(docs: errors\.md#SNAPSHOT_PATH\)$/],
      [join(path, "no", "such", "folder"), /^cannot save counters in .*ENOENT/],
    ] as const) {
      const { store, problems } = await open(place);
      assert.equal(add(store, "d|k=v|hour:", 1), 1);
      await store.close();
      assert.equal(problems.length, 1);
      assert.match(problems[0]!, problem);
    }
  });

  test("neither reads nor replaces a pipe or a device", async (t) => {
    const path = join(folder(t), "pipe");
    execFileSync("mkfifo", [path]);
    const { store, problems } = await open(path);
    await store.close();
    assert.match(problems[0]!, /this path is not a file/);
    assert.ok(statSync(path).isFIFO());
  });

  test("reports a folder that was removed", async (t) => {
    const path = folder(t);
    const { store, problems } = await open(join(path, "counters"));
    rmSync(path, { recursive: true });
    await store.close();
    assert.match(problems[0]!, /^could not save the counters in .*ENOENT/);
  });

  test("does not follow a symbolic link at the temporary name", async (t) => {
    const directory = folder(t);
    const path = join(directory, "counters");
    const victim = join(directory, "victim");
    writeFileSync(victim, "precious");
    symlinkSync(victim, `${path}.unfinished`);
    const { store, problems } = await open(path);
    add(store, "d|k=v|hour:", 5);
    await store.close();
    assert.deepEqual(problems, []);
    assert.equal(readFileSync(victim, "utf8"), "precious");
    assert.ok(lstatSync(path).isFile(), "the snapshot is a regular file");
    assert.equal(statSync(path).mode & 0o777, 0o600);
    const again = await open(path);
    assert.equal(add(again.store, "d|k=v|hour:", 0), 5);
    await again.store.close();
  });

  test("reports a folder at the temporary name and keeps it", async (t) => {
    const path = join(folder(t), "counters");
    mkdirSync(`${path}.unfinished`);
    const { store, problems } = await open(path);
    add(store, "d|k=v|hour:", 5);
    await store.close();
    assert.equal(problems.length, 1);
    assert.match(problems[0]!, /^could not save the counters in .*counters: .*\.unfinished/);
    assert.ok(statSync(`${path}.unfinished`).isDirectory());
  });

  test("keeps the old snapshot after a failed write and removes the unfinished file", async (t) => {
    const path = join(folder(t), "counters");
    const first = await open(path);
    add(first.store, "d|k=v|hour:", 5);
    await first.store.close();
    const before = readFileSync(path);
    // The process may write only a few KiB to a file, as on a full disk.
    const program = `
      const { EmbeddedStore } = await import(${JSON.stringify(import.meta.resolve("./embedded-store.ts"))});
      const store = await EmbeddedStore.open({ snapshotPath: process.argv[1], report: console.log });
      for (let index = 0; index < 20_000; index++) {
        const count = { stem: "k" + index, windowStart: ${START}, windowSize: 1e8, hits: 1, limit: 9 };
        store.count({ counts: [count], holdBack: 0, now: ${NOW}, deadline: 0 });
      }
      await store.close();`;
    const limited = 'ulimit -f 8; exec "$0" --input-type=module --eval "$1" "$2"';
    const output = execFileSync("sh", ["-c", limited, process.execPath, program, path], { encoding: "utf8" });
    assert.match(output, /^could not save the counters in .*EFBIG/);
    assert.deepEqual(readFileSync(path), before);
    assert.ok(!existsSync(`${path}.unfinished`));
  });
});

/** The bytes from the second block on, of a file with two blocks. */
function lastBlock(whole: Buffer): Buffer {
  return whole.subarray(24 + 8 + whole.readUInt32LE(24));
}

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { gunzipSync } from "node:zlib";
import { Profile } from "pprof-format";
import { type ProfileKind, type ProfileResult, takeProfile } from "../../src/observe/profiling/profiler.ts";

/** Keeps the thread busy in short turns, in a function with a known name, until stopped. */
function burnTheProcessor(): () => void {
  let immediate = setImmediate(function burnOneTurn() {
    const until = performance.now() + 5;
    while (performance.now() < until) Math.sqrt(until);
    immediate = setImmediate(burnOneTurn);
  });
  return () => clearImmediate(immediate);
}

const held: object[][] = [];
function holdMuchMemory(): void {
  for (let i = 0; i < 200; i++) held.push(Array.from({ length: 2000 }, (_, j) => ({ i, j })));
}

async function during(kind: ProfileKind, work: () => () => void, seconds = "0.3"): Promise<ProfileResult> {
  const stop = work();
  try {
    return await takeProfile(kind, seconds);
  } finally {
    stop();
  }
}

/** Returns each function's share of a value, and the profile's value types. */
function decode({ body }: ProfileResult): { types: string[]; totals: Map<string, number>; profile: Profile } {
  const profile = Profile.decode(gunzipSync(body));
  const text = (index: number | bigint): string => profile.stringTable.strings[Number(index)]!;
  const functions = new Map(profile.function.map((each) => [Number(each.id), text(each.name)]));
  const names = new Map(
    profile.location.map((each) => [Number(each.id), functions.get(Number(each.line[0]!.functionId))!]),
  );
  const totals = new Map<string, number>();
  for (const { locationId, value } of profile.sample)
    for (const name of new Set(locationId.map((id) => names.get(Number(id))!)))
      totals.set(name, (totals.get(name) ?? 0) + Number(value[1]));
  return {
    types: profile.sampleType.map(({ type, unit }) => `${text(type)}/${text(unit)}`),
    totals,
    profile,
  };
}

const samplesOf = ({ sample }: Profile): number =>
  sample.reduce((sum, { value }) => sum + Number(value[0]), 0);

describe("profiles", () => {
  it("profile: CPU time by function, without idle time", async () => {
    // On a slow machine a short profile has few samples, or those of its own start only.
    let result = await during("profile", burnTheProcessor);
    for (const seconds of ["1", "4", "16"])
      if (samplesOf(decode(result).profile) < 50) result = await during("profile", burnTheProcessor, seconds);
    assert.deepEqual([result.contentType, result.fileName], ["application/octet-stream", "profile.pb.gz"]);
    const { types, totals, profile } = decode(result);
    assert.deepEqual(types, ["samples/count", "cpu/nanoseconds"]);
    const burnt = totals.get("burnOneTurn") ?? 0;
    const all = profile.sample.reduce((sum, { value }) => sum + Number(value[1]), 0);
    const duration = Number(profile.durationNanos);
    assert.ok(duration >= 0.3e9);
    // On a slow machine the process gets a small part of the time.
    assert.ok(burnt > 0.5 * all && burnt <= duration, `${burnt} of ${all} ns in ${duration} ns`);
    assert.equal(totals.has("(idle)"), false);
    assert.ok(Math.abs(Number(profile.timeNanos) / 1e6 - Date.now()) < 60_000);
    assert.ok(profile.location.some(({ line }) => Number(line[0]!.line) > 1));
  });

  it("wall: time by function, with idle time", async () => {
    const take = async (seconds: string) => {
      const { types, totals } = decode(await during("wall", () => () => {}, seconds));
      assert.deepEqual(types, ["samples/count", "wall/nanoseconds"]);
      return ((totals.get("(idle)") ?? 0) + (totals.get("(program)") ?? 0)) / (Number(seconds) * 1e9);
    };
    // On a slow machine the start of the profile takes most of a short one.
    let idle = 0;
    for (const seconds of ["0.3", "1", "4", "16"]) if (idle < 0.5) idle = await take(seconds);
    assert.ok(idle >= 0.5, `${idle} of the time is idle`);
  });

  it("heap: memory allocated during the profile and still in use", async () => {
    const result = during("heap", () => () => {});
    await new Promise((resolve) => setTimeout(resolve, 100));
    holdMuchMemory();
    const { types, totals } = decode(await result);
    assert.deepEqual(types, ["samples/count", "inuse_space/bytes"]);
    const bytes = totals.get("holdMuchMemory") ?? 0;
    assert.ok(bytes > 1e6, `${bytes} bytes`);
    held.length = 0;
  });

  it("trace: events in Chrome's format", async () => {
    const result = await during("trace", burnTheProcessor);
    assert.equal(result.contentType, "application/json");
    const trace = JSON.parse(result.body.toString());
    assert.ok(trace.traceEvents.length > 10);
    for (const event of trace.traceEvents) {
      assert.equal(typeof event.name, "string");
      assert.equal(typeof event.ph, "string");
      assert.equal(typeof event.ts, "number");
    }
    assert.ok(trace.traceEvents.some(({ cat }: { cat: string }) => cat.includes("v8")));
    assert.equal(trace.otherData.eventsLeftOut, 0);
  });

  for (const seconds of ["0", "-1", "301", "abc", "1e2", "", "99999999999"])
    it(`refuses seconds=${seconds}`, async () => {
      await assert.rejects(takeProfile("profile", seconds), { name: "ProfileError", code: "BAD_SECONDS" });
    });

  it("are taken one at a time, and again after an early end", async () => {
    const caller = new AbortController();
    const first = takeProfile("wall", "60", caller.signal);
    await assert.rejects(takeProfile("heap", "0.1"), { name: "ProfileError", code: "PROFILE_BUSY" });
    caller.abort();
    decode(await first);
    decode(await takeProfile("profile", "0.05", AbortSignal.abort()));
  });

  // The tests above have their own decoder. If Go is installed, its tool checks the profiles too.
  const go = process.env.GO ?? "go";
  const hasGo = spawnSync(go, ["version"]).status === 0;
  if (hasGo)
    it("can be read by `go tool pprof -top`", async () => {
      const folder = mkdtempSync(join(tmpdir(), "tollgate-pprof-"));
      try {
        for (const kind of ["profile", "wall", "heap"] as const) {
          const path = join(folder, `${kind}.pb.gz`);
          const result = await during(kind, burnTheProcessor);
          writeFileSync(path, result.body);
          const { status, stdout, stderr } = spawnSync(go, ["tool", "pprof", "-top", path], {
            encoding: "utf8",
            env: { ...process.env, PPROF_TMPDIR: folder },
          });
          assert.equal(status, 0, stderr);
          const type = { profile: "cpu", wall: "wall", heap: "inuse_space" }[kind];
          assert.match(stdout, new RegExp(`^Type: ${type}$`, "m"));
          if (kind !== "heap") assert.match(stdout, /burnOneTurn/);
        }
      } finally {
        rmSync(folder, { recursive: true, force: true });
      }
    });
});

import { Session } from "node:inspector/promises";
import { cpuSamples, heapSamples } from "./call-tree.ts";
import { encodePprof } from "./pprof.ts";
import { recordTrace } from "./trace-events.ts";

export type ProfileKind = "profile" | "heap" | "wall" | "trace";

/** The pages under `/debug/pprof/`, in the order of the index. */
export const PROFILES: readonly {
  readonly kind: ProfileKind;
  readonly defaultSeconds: number;
  readonly meaning: string;
}[] = [
  { kind: "profile", defaultSeconds: 30, meaning: "CPU time by function (pprof format)" },
  {
    kind: "heap",
    defaultSeconds: 5,
    meaning: "memory allocated meanwhile and still in use, by function (pprof format)",
  },
  { kind: "wall", defaultSeconds: 30, meaning: "time by function, idle time included (pprof format)" },
  {
    kind: "trace",
    defaultSeconds: 1,
    meaning: "events of the engine and the event loop (trace-event JSON, for Perfetto)",
  },
];

export const MAX_PROFILE_SECONDS = 300;

export interface ProfileResult {
  readonly contentType: string;
  readonly fileName: string;
  readonly body: Buffer;
}

export type ProfileErrorCode =
  /** Another profile is being taken: HTTP 409. */
  | "PROFILE_BUSY"
  /** Not a number of seconds, or too many: HTTP 400. */
  | "BAD_SECONDS";

/** A profile that was not taken. */
export class ProfileError extends Error {
  override readonly name = "ProfileError";
  readonly code: ProfileErrorCode;
  constructor(code: ProfileErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}

/** Microseconds between two samples of the stack: a hundredth of what is measured goes into measuring. */
const SAMPLING_INTERVAL_US = 1000;
const HEAP_INTERVAL_BYTES = 32 * 1024;

let busy = false;

/**
 * Takes one profile of this thread; the service goes on meanwhile. One at a time in a process.
 * @param seconds the query argument as it came; the profile's own default where it is absent
 * @param signal ends the profile early: with what there is, or for nobody
 * @throws {ProfileError}
 */
export async function takeProfile(
  kind: ProfileKind,
  seconds: string | undefined,
  signal?: AbortSignal,
): Promise<ProfileResult> {
  const duration = parseSeconds(kind, seconds);
  if (busy) throw new ProfileError("PROFILE_BUSY", "another profile is being taken; one at a time");
  busy = true;
  const session = new Session();
  try {
    session.connect();
    const wait = (): Promise<void> => sleep(duration * 1000, signal);
    switch (kind) {
      case "profile":
        return pprofResult(kind, await recordCpu(session, false, wait));
      case "wall":
        return pprofResult(kind, await recordCpu(session, true, wait));
      case "heap":
        return pprofResult(kind, await recordHeap(session, wait));
      case "trace":
        return {
          contentType: "application/json",
          fileName: "trace.json",
          body: await recordTrace(session, wait),
        };
    }
  } finally {
    session.disconnect();
    busy = false;
  }
}

function parseSeconds(kind: ProfileKind, seconds: string | undefined): number {
  if (seconds === undefined) return PROFILES.find((profile) => profile.kind === kind)!.defaultSeconds;
  const value = /^\d{1,3}(?:\.\d{1,3})?$/.test(seconds) ? Number(seconds) : Number.NaN;
  if (value > 0 && value <= MAX_PROFILE_SECONDS) return value;
  throw new ProfileError(
    "BAD_SECONDS",
    `seconds is "${seconds.slice(0, 20)}": it must be a number above 0, at most ${MAX_PROFILE_SECONDS}`,
  );
}

async function recordCpu(session: Session, idle: boolean, wait: () => Promise<void>): Promise<Buffer> {
  await session.post("Profiler.enable");
  await session.post("Profiler.setSamplingInterval", { interval: SAMPLING_INTERVAL_US });
  const startedAt = BigInt(Date.now()) * 1_000_000n;
  const began = performance.now();
  await session.post("Profiler.start");
  await wait();
  const { profile } = await session.post("Profiler.stop");
  await session.post("Profiler.disable");
  const type = idle ? "wall" : "cpu";
  return await encodePprof(cpuSamples(profile, idle), {
    valueTypes: [
      ["samples", "count"],
      [type, "nanoseconds"],
    ],
    period: SAMPLING_INTERVAL_US * 1000,
    periodType: [type, "nanoseconds"],
    startedAt,
    duration: Math.round((performance.now() - began) * 1e6),
  });
}

async function recordHeap(session: Session, wait: () => Promise<void>): Promise<Buffer> {
  const startedAt = BigInt(Date.now()) * 1_000_000n;
  const began = performance.now();
  await session.post("HeapProfiler.startSampling", { samplingInterval: HEAP_INTERVAL_BYTES });
  await wait();
  const { profile } = await session.post("HeapProfiler.stopSampling");
  return await encodePprof(heapSamples(profile), {
    valueTypes: [
      ["samples", "count"],
      ["inuse_space", "bytes"],
    ],
    period: HEAP_INTERVAL_BYTES,
    periodType: ["space", "bytes"],
    startedAt,
    duration: Math.round((performance.now() - began) * 1e6),
  });
}

function pprofResult(kind: ProfileKind, body: Buffer): ProfileResult {
  return { contentType: "application/octet-stream", fileName: `${kind}.pb.gz`, body };
}

function sleep(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, milliseconds);
    signal?.addEventListener("abort", done, { once: true });
    if (signal?.aborted === true) done();
  });
}

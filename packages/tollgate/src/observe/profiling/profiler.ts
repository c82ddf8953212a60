import { Session } from "node:inspector/promises";
import { cpuSamples, heapSamples, type StackSample } from "./call-tree.ts";
import { encodePprof } from "./pprof.ts";
import { recordTrace } from "./trace-events.ts";

export type ProfileKind = "profile" | "heap" | "wall" | "trace";

/** The pages under `/debug/pprof/`, in the order of the index. */
export const profiles: readonly {
  readonly kind: ProfileKind;
  readonly defaultSeconds: number;
  readonly meaning: string;
}[] = [
  { kind: "profile", defaultSeconds: 30, meaning: "CPU time by function (pprof format)" },
  {
    kind: "heap",
    defaultSeconds: 5,
    meaning: "memory allocated during the profile and still in use, by function (pprof format)",
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
  /** Another profile is in progress: HTTP 409. */
  | "PROFILE_BUSY"
  /** `seconds` is not a number or is out of range: HTTP 400. */
  | "BAD_SECONDS";

/** Error for a profile that cannot be taken. */
export class ProfileError extends Error {
  override readonly name = "ProfileError";
  readonly code: ProfileErrorCode;
  constructor(code: ProfileErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}

/** Microseconds between two samples of the stack. The overhead is about 1 %. */
const SAMPLING_INTERVAL_US = 1000;
const HEAP_INTERVAL_BYTES = 32 * 1024;

let busy = false;

/** Profiles that are sampled in each thread. */
export type SampledKind = Exclude<ProfileKind, "trace">;

/** Takes the same profile in the other threads at the same time. */
export type OtherThreads = (kind: SampledKind, seconds: number) => Promise<readonly StackSample[]>;

/**
 * Takes one profile of the process while the service keeps working. Only one profile at a time.
 * @param seconds the query argument; the profile's default if it is absent
 * @param signal ends the profile early, with the samples so far
 * @param others takes the profile in other threads; a trace includes them anyway
 * @throws {ProfileError}
 */
export async function takeProfile(
  kind: ProfileKind,
  seconds: string | undefined,
  signal?: AbortSignal,
  others?: OtherThreads,
): Promise<ProfileResult> {
  const duration = parseSeconds(kind, seconds);
  if (busy)
    throw new ProfileError("PROFILE_BUSY", "another profile is in progress: try again when it has ended");
  busy = true;
  try {
    if (kind === "trace") return await takeTrace(duration, signal);
    const startedAt = BigInt(Date.now()) * 1_000_000n;
    const began = performance.now();
    const parts = await Promise.all([sampleThread(kind, duration, signal), others?.(kind, duration) ?? []]);
    return await pprofResult(kind, parts.flat(), startedAt, performance.now() - began);
  } finally {
    busy = false;
  }
}

/** Takes the samples of this thread alone. */
export async function sampleThread(
  kind: SampledKind,
  seconds: number,
  signal?: AbortSignal,
): Promise<StackSample[]> {
  const session = new Session();
  session.connect();
  try {
    const wait = (): Promise<void> => sleep(seconds * 1000, signal);
    return kind === "heap"
      ? await sampleHeap(session, wait)
      : await sampleCpu(session, kind === "wall", wait);
  } finally {
    session.disconnect();
  }
}

async function takeTrace(seconds: number, signal: AbortSignal | undefined): Promise<ProfileResult> {
  const session = new Session();
  session.connect();
  try {
    const body = await recordTrace(session, () => sleep(seconds * 1000, signal));
    return { contentType: "application/json", fileName: "trace.json", body };
  } finally {
    session.disconnect();
  }
}

function parseSeconds(kind: ProfileKind, seconds: string | undefined): number {
  if (seconds === undefined) return profiles.find((profile) => profile.kind === kind)!.defaultSeconds;
  const value = /^\d{1,3}(?:\.\d{1,3})?$/.test(seconds) ? Number(seconds) : Number.NaN;
  if (value > 0 && value <= MAX_PROFILE_SECONDS) return value;
  throw new ProfileError(
    "BAD_SECONDS",
    `seconds is "${seconds.slice(0, 20)}": it must be a number above 0, at most ${MAX_PROFILE_SECONDS}`,
  );
}

async function sampleCpu(session: Session, idle: boolean, wait: () => Promise<void>): Promise<StackSample[]> {
  await session.post("Profiler.enable");
  await session.post("Profiler.setSamplingInterval", { interval: SAMPLING_INTERVAL_US });
  await session.post("Profiler.start");
  await wait();
  const { profile } = await session.post("Profiler.stop");
  await session.post("Profiler.disable");
  return cpuSamples(profile, idle);
}

async function sampleHeap(session: Session, wait: () => Promise<void>): Promise<StackSample[]> {
  await session.post("HeapProfiler.startSampling", { samplingInterval: HEAP_INTERVAL_BYTES });
  await wait();
  const { profile } = await session.post("HeapProfiler.stopSampling");
  return heapSamples(profile);
}

async function pprofResult(
  kind: SampledKind,
  samples: readonly StackSample[],
  startedAt: bigint,
  milliseconds: number,
): Promise<ProfileResult> {
  const time = kind === "wall" ? "wall" : "cpu";
  const shape = {
    profile: {
      value: [time, "nanoseconds"],
      period: SAMPLING_INTERVAL_US * 1000,
      periodType: [time, "nanoseconds"],
    },
    wall: {
      value: [time, "nanoseconds"],
      period: SAMPLING_INTERVAL_US * 1000,
      periodType: [time, "nanoseconds"],
    },
    heap: { value: ["inuse_space", "bytes"], period: HEAP_INTERVAL_BYTES, periodType: ["space", "bytes"] },
  } as const;
  const { value, period, periodType } = shape[kind];
  const body = await encodePprof(samples, {
    valueTypes: [["samples", "count"], value],
    period,
    periodType,
    startedAt,
    duration: Math.round(milliseconds * 1e6),
  });
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

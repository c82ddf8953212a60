import assert from "node:assert/strict";
import { descriptor, GrpcCaller, request } from "./grpc-caller.ts";
import { subscribed } from "./subscribed.ts";
import { type RunningTollgate, startTollgate } from "./tollgate.ts";

const config = {
  "d.yaml": `
domain: d
descriptors:
  - key: day
    rate_limit: { unit: day, requests_per_unit: 5 }
  - key: week
    rate_limit: { unit: week, requests_per_unit: 100 }
  - key: month
    rate_limit: { unit: month, requests_per_unit: 6000 }
  - key: second
    rate_limit: { unit: second, requests_per_unit: 1000000 }
`,
};

/** Sends descriptors such as `day=a`, and returns one status as text: `OK 4`, `OVER 0`, `status 14: ...`. */
export type Ask = (text: string, hits?: number) => Promise<string>;

export interface CountingService {
  readonly tollgate: RunningTollgate;
  readonly ask: Ask;
  /** All statuses of one request. */
  readonly askAll: (...texts: string[]) => Promise<string[]>;
  /** The lines of `/stats` that match. */
  readonly stats: (filter: string) => Promise<string>;
}

/** Starts a Tollgate with these settings, calls `use` with a client of it, and stops both. */
export async function counting(
  env: Readonly<Record<string, string>>,
  use: (service: CountingService) => Promise<void>,
): Promise<void> {
  const tollgate = await startTollgate({ config, env: { BACKEND_TYPE: "", ...env } });
  const caller = new GrpcCaller(tollgate.grpc);
  async function asked(texts: readonly string[], hits?: number): Promise<string[]> {
    try {
      const descriptors = texts.map((text) => descriptor(text, { hitsAddend: hits }));
      const { statuses } = await caller.ask(request("d", ...descriptors));
      return statuses.map(({ code, limitRemaining }) => `${code === 1 ? "OK" : "OVER"} ${limitRemaining}`);
    } catch (error) {
      const { code, details } = error as { code: number; details: string };
      return [`status ${code}: ${details}`];
    }
  }
  try {
    if ("KVSTORE_URL" in env && "LOCAL_CACHE_SIZE_IN_BYTES" in env) await subscribed(tollgate);
    await use({
      tollgate,
      ask: async (text, hits) => (await asked([text], hits))[0]!,
      askAll: (...texts) => asked(texts),
      stats: async (filter) =>
        (await (await fetch(`http://${tollgate.debug}/stats?filter=${filter}`)).text()).trimEnd(),
    });
  } finally {
    // The client closes later: a graceful stop answers its running calls.
    const { code } = await tollgate.stop();
    caller.close();
    assert.equal(code, 0, tollgate.log.join("\n"));
  }
}

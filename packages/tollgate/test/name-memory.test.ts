import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, describe, test } from "node:test";
import { scaled } from "../../../tools/time-scale.ts";
import { encodeRequest } from "../src/protocol/encode-request.ts";
import { descriptor, GrpcCaller, request } from "./grpc-caller.ts";
import { type RunningTollgate, startTollgate } from "./tollgate.ts";

const rules = `
domain: shop
descriptors:
  - key: few
    detailed_metric: true
    rate_limit: { unit: year, requests_per_unit: 3 }
  - key: item
    detailed_metric: true
    rate_limit: { unit: day, requests_per_unit: 1000000 }
`;

/** Bytes of a message, below the default limit. */
const LENGTH = 200_000;
const CALLS = 200;
/** The heap of each thread, in MiB. The texts of one test take more than that. */
const HEAP = 32;

/** Requests with names that a caller can vary. `:` and `|` are escaped in a statistic's name. */
const kinds: readonly (readonly [name: string, ask: (text: string) => ReturnType<typeof request>])[] = [
  ["unknown domains", (text) => request(text, descriptor("a=b"))],
  [
    "unknown domains with an empty descriptor",
    (text) => request(text, { ...descriptor("a=b"), entries: [] }),
  ],
  ["values of a detailed metric", (text) => request("shop", descriptor(`item=${text}`))],
  ["names that a statistic escapes", (text) => request("shop", descriptor(`item=:|${text}`))],
  [
    "the request's own limits",
    (text) => request("shop", descriptor(`k=${text}`, { limit: { requestsPerUnit: 5, unit: 1 } })),
  ],
];

/** The resident memory of a process, in MiB. */
function residentMiB(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)![1]) / 1024;
}

for (const workers of [1, 2])
  describe(`a service with ${workers} threads of ${HEAP} MiB keeps no long names`, {
    concurrency: false,
  }, () => {
    let tollgate: RunningTollgate;
    let callers: readonly GrpcCaller[];
    before(async () => {
      tollgate = await startTollgate({
        config: { "shop.yaml": rules },
        env: {
          WORKERS: String(workers),
          NODE_OPTIONS: `--max-old-space-size=${HEAP} --max-semi-space-size=1`,
          LOCAL_CACHE_SIZE_IN_BYTES: "1048576",
        },
      });
      callers = Array.from(
        { length: 4 },
        () => new GrpcCaller(tollgate.grpc, undefined, { "grpc.use_local_subchannel_pool": 1 }),
      );
    });
    after(async () => {
      for (const caller of callers) caller.close();
      assert.equal((await tollgate.stop()).code, 0, tollgate.log.slice(-20).join("\n"));
    });

    for (const [name, ask] of kinds)
      test(name, { timeout: scaled(300_000) }, async () => {
        const before = residentMiB(tollgate.pid);
        for (let call = 0; call < CALLS; call += callers.length) {
          const asked = callers.map(async (caller, index) => {
            const message = encodeRequest(ask(`${call + index} `.padEnd(LENGTH, "x")));
            // The decision's caches store a request at its second occurrence.
            for (let time = 0; time < 2; time++) await caller.askWithBytes(message, 60_000);
          });
          await Promise.all(asked);
        }
        // The main thread merges the statistics of all threads.
        const page = await (await fetch(`http://${tollgate.debug}/stats`)).text();
        for (const line of page.split("\n")) assert.ok(line.length < 600, line.slice(0, 600));
        const grown = residentMiB(tollgate.pid) - before;
        assert.ok(grown < (workers + 1) * HEAP, `${grown} MiB more`);
      });
  });

test("values that differ after the 512 bytes of a name share statistics, and have separate limits", async () => {
  const tollgate = await startTollgate({
    config: { "shop.yaml": rules },
    env: { LOCAL_CACHE_SIZE_IN_BYTES: "1048576" },
  });
  const caller = new GrpcCaller(tollgate.grpc);
  try {
    for (const length of [600, 20_000]) {
      for (const end of ["a", "b"]) {
        const asked = request("shop", descriptor(`few=${"x".repeat(length)}${end}`));
        const codes: number[] = [];
        for (let call = 0; call < 5; call++) codes.push((await caller.ask(asked)).overallCode);
        assert.deepEqual(codes, [1, 1, 1, 2, 2], `${length} ${end}`);
      }
    }
    const page = await (
      await fetch(`http://${tollgate.debug}/stats?filter=few.*(total_hits|over_limit)$`)
    ).text();
    const name = "ratelimit.service.rate_limit.shop.few_x*";
    assert.match(page, new RegExp(`^${name}.over_limit: 8\n${name}.total_hits: 20\n$`));
  } finally {
    caller.close();
    assert.equal((await tollgate.stop()).code, 0, tollgate.log.join("\n"));
  }
});

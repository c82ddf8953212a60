import assert from "node:assert/strict";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { gunzipSync } from "node:zlib";
import { Profile } from "pprof-format";
import { descriptor, GrpcCaller, request } from "./grpc-caller.ts";
import { type RunningTollgate, startTollgate } from "./tollgate.ts";

const rules = (limit: number) => `
domain: shop
descriptors:
  - key: user
    rate_limit: { unit: day, requests_per_unit: ${limit} }
  - key: item
    detailed_metric: true
    rate_limit: { unit: day, requests_per_unit: 1000000 }
`;

describe("gRPC served by several threads", () => {
  let tollgate: RunningTollgate;
  let callers: GrpcCaller[];

  before(async () => {
    tollgate = await startTollgate({
      config: { "shop.yaml": rules(100) },
      env: { WORKERS: "3", LOG_LEVEL: "info" },
    });
    // Each has its own connection, so that the kernel distributes them over the threads.
    callers = Array.from(
      { length: 12 },
      () => new GrpcCaller(tollgate.grpc, undefined, { "grpc.use_local_subchannel_pool": 1 }),
    );
  });
  after(async () => {
    for (const caller of callers) caller.close();
    assert.equal((await tollgate.stop()).code, 0, tollgate.log.join("\n"));
  });

  async function stats(filter: string) {
    const text = await (await fetch(`http://${tollgate.debug}/stats?filter=${filter}`)).text();
    return Object.fromEntries(
      text
        .trimEnd()
        .split("\n")
        .map((line) => line.split(": ")),
    ) as Record<string, string>;
  }
  const burst = (calls: number, of: ReturnType<typeof request>) =>
    Promise.all(Array.from({ length: calls }, (_, call) => callers[call % callers.length]!.ask(of)));

  test("a limit is exact across threads, and /stats has every call that was answered before", async () => {
    const answers = await burst(300, request("shop", descriptor("user=ann")));
    assert.equal(answers.filter(({ overallCode }) => overallCode === 1).length, 100);
    const counted = await stats("shop.user|ShouldRateLimit.total");
    assert.equal(counted["ratelimit.service.rate_limit.shop.user.total_hits"], "300");
    assert.equal(counted["ratelimit.service.rate_limit.shop.user.within_limit"], "100");
    assert.equal(counted["ratelimit.service.rate_limit.shop.user.over_limit"], "200");
    assert.equal(counted["ratelimit_server.ShouldRateLimit.total_requests"], "300");
    await burst(7, request("shop", descriptor("item=a")));
    assert.equal(
      (await stats("shop.item_a.total_hits"))["ratelimit.service.rate_limit.shop.item_a.total_hits"],
      "7",
    );
    assert.equal(
      (await stats("response_time.count"))["ratelimit_server.ShouldRateLimit.response_time.count"],
      "307",
    );
  });

  test("/json counts in the same store", async () => {
    const body = JSON.stringify({
      domain: "shop",
      descriptors: [{ entries: [{ key: "user", value: "ann" }] }],
    });
    assert.equal((await fetch(`http://${tollgate.http}/json`, { method: "POST", body })).status, 429);
  });

  test("a reload reaches every thread", async () => {
    await writeFile(join(tollgate.config, "shop.yaml"), rules(7));
    async function limits() {
      const answers = await burst(24, request("shop", descriptor("user=bob", { hitsAddend: 0 })));
      return new Set(answers.map(({ statuses }) => statuses[0]!.currentLimit!.requestsPerUnit));
    }
    for (let attempt = 0; attempt < 200; attempt++) {
      const seen = await limits();
      if (seen.size === 1 && seen.has(7)) return;
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
    assert.fail(`limits still ${[...(await limits())]}`);
  });

  test("a profile covers every thread", async () => {
    // On a slow machine the threads may get no time within one profile.
    for (let files: string[] = []; !files.some((file) => /grpc-wire\/src\//.test(file)); ) {
      const taken = fetch(`http://${tollgate.debug}/debug/pprof/profile?seconds=1`);
      let isTaken = false;
      void taken.finally(() => {
        isTaken = true;
      });
      while (!isTaken) await burst(120, request("shop", descriptor("item=a")));
      const profile = Profile.decode(gunzipSync(await (await taken).bytes()));
      // The main thread does not serve gRPC here.
      files = profile.function.map(({ filename }) => profile.stringTable.strings[Number(filename)]!);
    }
  });

  test("the log has the number of threads", async () => {
    await tollgate.logged(/gRPC is served by 3 threads/);
  });
});

test("with four connections and four threads every thread gets one", async (t) => {
  const tollgate = await startTollgate({
    config: { "shop.yaml": rules(1_000_000) },
    env: { WORKERS: "4", LOG_LEVEL: "debug" },
  });
  t.after(() => tollgate.stop());
  const callers = Array.from(
    { length: 4 },
    () => new GrpcCaller(tollgate.grpc, undefined, { "grpc.use_local_subchannel_pool": 1 }),
  );
  t.after(() => {
    for (const caller of callers) caller.close();
  });
  let isBalanced = false;
  const balanced = tollgate.logged(/gRPC connections of the threads: 1, 1, 1, 1"/).then(() => {
    isBalanced = true;
  });
  let calls = 0;
  // No call fails while connections move.
  while (!isBalanced) {
    await Promise.all(callers.map((caller) => caller.ask(request("shop", descriptor("user=u")))));
    calls += callers.length;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  await balanced;
  const text = await (await fetch(`http://${tollgate.debug}/stats?filter=shop.user.total_hits`)).text();
  assert.match(text, new RegExp(`total_hits: ${calls}$`, "m"));
});

test("a port of another process is a startup error, with or without SO_REUSEPORT there", async () => {
  for (const reusePort of [false, true]) {
    const holder = createServer();
    holder.listen({ port: 0, host: "127.0.0.1", reusePort });
    await once(holder, "listening");
    const { port } = holder.address() as { port: number };
    const tollgate = await startTollgate({
      config: { "shop.yaml": rules(1) },
      env: { WORKERS: "2", GRPC_PORT: String(port) },
      unopened: true,
    });
    const { code } = await tollgate.stop("SIGCONT");
    assert.equal(code, 1);
    assert.match(tollgate.log.join("\n"), /cannot listen for gRPC on 127\.0\.0\.1:\d+: .*EADDRINUSE/);
    holder.close();
  }
});

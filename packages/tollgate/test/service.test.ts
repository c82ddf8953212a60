import assert from "node:assert/strict";
import { renameSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Socket } from "node:net";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { scaled } from "../../../tools/time-scale.ts";
import { Authority } from "./authority.ts";
import { descriptor, GrpcCaller, request } from "./grpc-caller.ts";
import { ManagementServer, resource } from "./sources/management-server.ts";
import { type RunningTollgate, startTollgate } from "./tollgate.ts";

// Statements of the contract about the whole service that no other file of this folder tests on a running process.

const rules = (limit: number) => `
domain: d
descriptors:
  - key: a
    rate_limit: { unit: year, requests_per_unit: ${limit} }
  - key: b
    rate_limit: { unit: year, requests_per_unit: ${limit} }
`;

/** Runs a service while `use` runs, and expects a clean exit. */
async function running(
  options: Parameters<typeof startTollgate>[0],
  use: (tollgate: RunningTollgate, caller: GrpcCaller) => Promise<void>,
): Promise<void> {
  const tollgate = await startTollgate(options);
  const caller = new GrpcCaller(tollgate.grpc);
  try {
    await use(tollgate, caller);
  } finally {
    caller.close();
    const { code } = await tollgate.stop();
    assert.equal(code, 0, tollgate.log.join("\n"));
  }
}

const page = async (address: string, path: string): Promise<string> =>
  (await fetch(`http://${address}${path}`)).text();

async function until(what: () => Promise<boolean>): Promise<void> {
  while (!(await what())) await new Promise((resolve) => setTimeout(resolve, 20));
}

for (const workers of ["1", "2"]) {
  test(`HEALTHY_WITH_AT_LEAST_ONE_CONFIG_LOADED: unhealthy without a domain, on HTTP and gRPC, WORKERS=${workers}`, async () => {
    const env = {
      HEALTHY_WITH_AT_LEAST_ONE_CONFIG_LOADED: "true",
      FORCE_START_WITHOUT_INITIAL_CONFIG: "true",
      WORKERS: workers,
      LOG_LEVEL: "info",
    };
    await running({ config: { "a.yaml": "broken: [" }, env }, async (tollgate, caller) => {
      const check = (): Promise<string> =>
        new Promise((resolve, reject) =>
          caller.client.makeUnaryRequest(
            "/grpc.health.v1.Health/Check",
            (bytes: Buffer) => bytes,
            (bytes: Buffer) => bytes.toString("hex"),
            Buffer.alloc(0),
            (error, status) => (error === null ? resolve(status!) : reject(error)),
          ),
        );
      const file = join(tollgate.config, "a.yaml");
      assert.equal(await page(tollgate.http, "/healthcheck"), "config: no configuration is loaded\n");
      assert.equal(await check(), "0802");
      writeFileSync(file, rules(1));
      await until(async () => (await page(tollgate.http, "/healthcheck")) === "OK");
      await until(async () => (await check()) === "0801");
      // A faulty set changes neither the rules nor the health.
      writeFileSync(file, "broken: [");
      await tollgate.logged(/the previous one stays in use/);
      assert.equal(await page(tollgate.http, "/healthcheck"), "OK");
      rmSync(file);
      await until(
        async () => (await page(tollgate.http, "/healthcheck")) === "config: no domain is configured\n",
      );
      await until(async () => (await check()) === "0802");
      assert.match(
        tollgate.log.join("\n"),
        /health: component config is healthy[\s\S]*component config is unhealthy/,
      );
    });
  });

  test(`a reload under load over gRPC loses no call and mixes no sets, WORKERS=${workers}`, async () => {
    await running({ config: { "a.yaml": rules(1_000_000) }, env: { WORKERS: workers } }, async (tollgate) => {
      const callers = Array.from(
        { length: 4 },
        () => new GrpcCaller(tollgate.grpc, undefined, { "grpc.use_local_subchannel_pool": 1 }),
      );
      let [over, calls] = [false, 0];
      const seen = callers.map(() => 0);
      const load = callers.map(async (caller, index) => {
        while (!over) {
          const { statuses } = await caller.ask(request("d", descriptor("a=1"), descriptor("b=1")));
          const [first, second] = statuses.map(({ currentLimit }) => currentLimit?.requestsPerUnit);
          assert.equal(first, second);
          assert.ok(first! >= seen[index]!, "an older set after a newer one");
          seen[index] = first!;
          calls++;
        }
      });
      for (let limit = 1_000_001; limit <= 1_000_010; limit++) {
        const made = `${tollgate.config}/.made`;
        writeFileSync(made, rules(limit));
        renameSync(made, join(tollgate.config, "a.yaml"));
        while (!seen.every((newest) => newest === limit))
          await Promise.race([...load, new Promise((resolve) => setTimeout(resolve, 1))]);
      }
      over = true;
      await Promise.all(load);
      const last = await callers[0]!.ask(request("d", descriptor("a=1", { hitsAddend: 0 })));
      assert.equal(last.statuses[0]!.limitRemaining, 1_000_010 - calls, "counters continue");
      for (const caller of callers) caller.close();
    });
  });
}

describe("settings that change answers", () => {
  const limit = (number: number, more = "") =>
    `domain: d\ndescriptors:\n  - key: q\n    ${more}\n    rate_limit: { unit: day, requests_per_unit: ${number} }\n` +
    "  - key: r\n    rate_limit: { unit: day, requests_per_unit: 9 }\n";
  async function ask(tollgate: RunningTollgate, ...keys: string[]) {
    const body = { domain: "d", descriptors: keys.map((key) => ({ entries: [{ key, value: "v" }] })) };
    const response = await fetch(`http://${tollgate.http}/json`, {
      method: "POST",
      body: JSON.stringify(body),
    });
    return { status: response.status, body: JSON.parse(await response.text()) };
  }

  test("quota_mode: over if every quota descriptor is over; QUOTA_MODE applies to every rule", async () => {
    await running({ config: { "d.yaml": limit(0, "quota_mode: true") } }, async (tollgate) => {
      assert.equal((await ask(tollgate, "q", "r")).status, 429);
      assert.match(await page(tollgate.debug, "/rlconfig"), /d\.q: .*quota_mode: true/);
    });
    await running({ config: { "d.yaml": limit(0) }, env: { QUOTA_MODE: "true" } }, async (tollgate) => {
      assert.equal((await ask(tollgate, "q", "r")).status, 200);
      assert.equal((await ask(tollgate, "q")).status, 429);
    });
  });

  test("SHADOW_MODE: the overall code is OK, the statuses are unchanged, and the overrides are counted", async () => {
    await running({ config: { "d.yaml": limit(0) }, env: { SHADOW_MODE: "true" } }, async (tollgate) => {
      const { status, body } = await ask(tollgate, "q", "r");
      assert.equal(status, 200);
      assert.deepEqual(
        [body.overallCode, ...body.statuses.map(({ code }: { code: string }) => code)],
        ["OK", "OVER_LIMIT", "OK"],
      );
      assert.equal(
        await page(tollgate.debug, "/stats?filter=global_shadow_mode"),
        "ratelimit.service.global_shadow_mode: 1\n",
      );
    });
  });

  test("RESPONSE_DYNAMIC_METADATA: the request, and the metadata of the rules that it passed", async () => {
    const config = { "d.yaml": limit(1, "metadata: { owner: search, tier: 2 }") };
    await running({ config, env: { RESPONSE_DYNAMIC_METADATA: "true" } }, async (tollgate, caller) => {
      const { body } = await ask(tollgate, "q");
      assert.deepEqual(body.dynamicMetadata, {
        domain: "d",
        descriptors: [{ entries: ["q=v"] }],
        metadata: { owner: "search", tier: 2 },
      });
      const { dynamicMetadata } = await caller.ask(request("d", descriptor("r=v")));
      assert.deepEqual(dynamicMetadata, { domain: "d", descriptors: [{ entries: ["r=v"] }] });
    });
  });

  test("STATS_MAX_DYNAMIC_KEYS bounds the statistics that values of requests create", async () => {
    const config = { "d.yaml": limit(5, "detailed_metric: true") };
    for (const workers of ["1", "2"]) {
      await running(
        { config, env: { STATS_MAX_DYNAMIC_KEYS: "3", WORKERS: workers } },
        async (tollgate, caller) => {
          for (let value = 0; value < 20; value++) {
            await caller.ask(request("d", descriptor(`q=${value}`)));
            await caller.ask(request(`unknown-${value}`, descriptor("q=1")));
          }
          const text = await page(tollgate.debug, "/stats?filter=q_.*total_hits|_other.*|domain_not_found");
          const lines = text.trim().split("\n");
          assert.ok(lines.length < 20, text);
          const sum = (pattern: RegExp) =>
            lines
              .filter((line) => pattern.test(line))
              .reduce((total, line) => total + Number(line.split(": ")[1]), 0);
          assert.equal(sum(/total_hits/), 20, text);
          assert.equal(sum(/domain_not_found/), 20, text);
        },
      );
    }
  });
});

describe("a store that never answers", () => {
  const sockets = new Set<Socket>();
  const silent = createServer((socket) => sockets.add(socket.on("error", () => undefined)));
  before(() => new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve)));
  after(() => {
    for (const socket of sockets) socket.destroy();
    silent.close();
  });

  test("with a deadline: DEADLINE_EXCEEDED; without one, after KVSTORE_TIMEOUT: UNAVAILABLE, 503", async () => {
    const { port } = silent.address() as { port: number };
    const env = {
      BACKEND_TYPE: "kvstore",
      KVSTORE_URL: `127.0.0.1:${port}`,
      STORE_REQUIRED_AT_START: "false",
      KVSTORE_TIMEOUT: `${scaled(600)}ms`,
      SHUTDOWN_TIMEOUT: `${scaled(3000)}ms`,
    };
    await running({ config: { "a.yaml": rules(5) }, env }, async (tollgate, caller) => {
      await assert.rejects(caller.ask(request("d", descriptor("a=1")), 100), { code: 4 });
      const body = JSON.stringify({ domain: "d", descriptors: [{ entries: [{ key: "a", value: "1" }] }] });
      const answer = await fetch(`http://${tollgate.http}/json`, { method: "POST", body });
      assert.equal(answer.status, 503);
      const problem = await answer.text();
      assert.doesNotMatch(
        problem,
        new RegExp(`${port}|127\\.0\\.0\\.1|a=1`),
        "no address and no key reach a caller",
      );
      assert.match(
        await page(tollgate.debug, "/stats?filter=kvstore_error"),
        /should_rate_limit\.kvstore_error: [1-9]/,
      );
    });
  });
});

test("gRPC reflection describes the rate limit service and all methods of the health service", async () => {
  const symbols = {
    "envoy.service.ratelimit.v3.RateLimitService": [
      "ShouldRateLimit",
      "envoy/service/ratelimit/v3/rls.proto",
    ],
    "kuadrant.service.ratelimit.v1.RateLimitService": [
      ...["CheckRateLimit", "Report", "Reserve", "Commit"],
      "kuadrant/service/ratelimit/v1/ratelimit.proto",
    ],
    "grpc.health.v1.Health": ["HealthCheckRequest", "HealthListRequest", "grpc/health/v1/health.proto"],
  };
  await running({ config: { "a.yaml": rules(5) } }, async (_, caller) => {
    for (const version of ["v1", "v1alpha"]) {
      for (const [symbol, texts] of Object.entries(symbols)) {
        const stream = caller.client.makeBidiStreamRequest(
          `/grpc.reflection.${version}.ServerReflection/ServerReflectionInfo`,
          (bytes: Buffer) => bytes,
          (bytes: Buffer) => bytes,
        );
        const answer = new Promise<Buffer>((resolve, reject) =>
          stream.once("data", resolve).once("error", reject),
        );
        // file_containing_symbol = 4
        stream.write(Buffer.concat([Buffer.from([0x22, symbol.length]), Buffer.from(symbol)]));
        const bytes = await answer;
        stream.end();
        for (const text of texts) assert.ok(bytes.includes(text), `${symbol}: ${text}`);
      }
    }
  });
});

test("CONFIG_GRPC_XDS_SERVER_USE_TLS: a management server by its IP address, its rules in every thread", async () => {
  const authority = new Authority();
  const pair = authority.issue("both", "IP:127.0.0.1");
  const server = await ManagementServer.start({
    tls: { cert: pair.cert, key: pair.key, clientCa: authority.cert },
  });
  try {
    const tollgate = await startTollgate({
      unopened: true,
      env: {
        CONFIG_TYPE: "GRPC_XDS_SOTW",
        CONFIG_GRPC_XDS_SERVER_URL: server.address.replace("localhost", "127.0.0.1"),
        CONFIG_GRPC_XDS_SERVER_USE_TLS: "true",
        CONFIG_GRPC_XDS_SERVER_TLS_CACERT: authority.cert,
        CONFIG_GRPC_XDS_CLIENT_TLS_CERT: pair.cert,
        CONFIG_GRPC_XDS_CLIENT_TLS_KEY: pair.key,
        WORKERS: "2",
      },
    });
    const stream = await server.stream();
    await stream.next();
    stream.send("v1", "n1", [resource("one", "d", "k")]);
    assert.equal((await stream.next()).versionInfo, "v1");
    await tollgate.logged(/Listening for HTTP/);
    const callers = Array.from(
      { length: 5 },
      () => new GrpcCaller(tollgate.grpc, undefined, { "grpc.use_local_subchannel_pool": 1 }),
    );
    const left: number[] = [];
    for (const caller of callers) {
      const { statuses } = await caller.ask(request("d", descriptor("k=v")));
      assert.equal(statuses[0]!.currentLimit?.requestsPerUnit, 5);
      left.push(statuses[0]!.limitRemaining);
      caller.close();
    }
    // The window of a minute may end meanwhile.
    assert.ok(left.at(-1) === 0 || left.includes(4), String(left));
    assert.equal((await tollgate.stop()).code, 0, tollgate.log.join("\n"));
  } finally {
    server.stop();
    authority.remove();
  }
});

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { gzipSync } from "node:zlib";
import { WireWriter } from "../src/protocol/wire.fixture.ts";
import { descriptor, GrpcCaller, request } from "./grpc-caller.ts";
import { type RunningTollgate, startTollgate } from "./tollgate.ts";

// Requests that no correct gateway sends, against the running service.

const config = {
  "d.yaml": `
domain: d
descriptors:
  - key: k
    detailed_metric: true
    rate_limit: { unit: year, requests_per_unit: 2 }
`,
};

/** `{ domain: "d", descriptors: [{ entries: [{ key: "k", value }] }] }` with any bytes. */
function withValue(value: Uint8Array): Buffer {
  const entry = new WireWriter().bytes(1, Buffer.from("k")).bytes(2, value).finish();
  const descriptor = new WireWriter().bytes(1, entry).finish();
  return new WireWriter().bytes(1, Buffer.from("d")).bytes(2, descriptor).finish();
}

const emptyDescriptors = (count: number) =>
  Buffer.concat([Buffer.from("0a0164", "hex"), Buffer.alloc(2 * count, Buffer.from("1200", "hex"))]);

async function post(address: string, path: string, body: string | Uint8Array) {
  const response = await fetch(`http://${address}${path}`, { method: "POST", body });
  return { status: response.status, body: JSON.parse(await response.text()) };
}

describe("values that are not UTF-8", () => {
  let tollgate: RunningTollgate;
  let caller: GrpcCaller;
  before(async () => {
    tollgate = await startTollgate({
      config,
      env: { RESPONSE_DYNAMIC_METADATA: "true", LOG_LEVEL: "debug" },
    });
    caller = new GrpcCaller(tollgate.grpc);
  });
  after(async () => {
    caller.close();
    assert.equal((await tollgate.stop()).code, 0);
  });

  test("are counted up to their limit, separately from texts that look alike", async () => {
    const codes: number[] = [];
    for (let call = 0; call < 3; call++)
      codes.push((await caller.askWithBytes(withValue(Buffer.from("6dfffe", "hex")))).overallCode);
    assert.deepEqual(codes, [1, 1, 2]);
    for (const text of ["m\\xFF\\xFE", "m%FF%FE", "m\ufffd\ufffd"]) {
      const { overallCode, statuses } = await caller.askWithBytes(withValue(Buffer.from(text)));
      assert.deepEqual([overallCode, statuses[0]!.limitRemaining], [1, 1], text);
    }
  });

  test("are shown as \\xXX in statistics, metadata and explanations", async () => {
    const { dynamicMetadata } = await caller.askWithBytes(withValue(Buffer.from("6dff", "hex")));
    assert.deepEqual(dynamicMetadata?.descriptors, [{ entries: ["k=m\\xFF"] }]);
    const stats = await (await fetch(`http://${tollgate.debug}/stats`)).text();
    assert.match(stats, /^ratelimit\.service\.rate_limit\.d\.k_m\\xFF\.total_hits: 1$/m);
    const body = '{"domain":"d","descriptors":[{"entries":[{"key":"k","value":"m\\ud800"}]}]}';
    const text = await (await fetch(`http://${tollgate.debug}/explain`, { method: "POST", body })).text();
    assert.match(text, /^descriptor k=m\\xED\\xA0\\x80$/m);
    assert.match(text, /^cache key {2}d\|k=m%ED%A0%80\|year:\d+$/m);
  });

  test("on /json lone surrogates are counted, and a body that is not UTF-8 is refused", async () => {
    const body = '{"domain":"d","descriptors":[{"entries":[{"key":"k","value":"s\\udfff"}]}]}';
    for (const status of [200, 200, 429])
      assert.equal((await post(tollgate.http, "/json", body)).status, status);
    const broken = Buffer.from(body.replace("s\\udfff", "m\xff"), "latin1");
    const answer = await post(tollgate.http, "/json", broken);
    assert.deepEqual([answer.status, answer.body.detail], [400, "the body is not valid UTF-8"]);
  });
});

describe("oversized requests", () => {
  const limits = {
    MAX_REQUEST_SIZE_IN_BYTES: "20000",
    MAX_DESCRIPTORS: "3",
    MAX_ENTRIES_PER_DESCRIPTOR: "2",
  };
  const many = request("d", ...Array.from({ length: 4 }, () => descriptor("k=v")));
  const deep = request("d", descriptor("k=v"), descriptor("a=1,b=2,c=3"));
  const json = (descriptors: number, entries: number) =>
    JSON.stringify({
      domain: "d",
      descriptors: Array.from({ length: descriptors }, () => ({
        entries: Array.from({ length: entries }, () => ({ key: "k", value: "v" })),
      })),
    });
  const bodies: [string, string, RegExp][] = [
    ["too many bytes", JSON.stringify({ domain: "x".repeat(20_000) }), /larger than 20000 bytes/],
    ["too many descriptors", json(4, 1), /more than 3 descriptors/],
    ["too many entries", json(1, 3), /descriptor 0 has more than 2 entries/],
    [
      "too many members",
      `{${Array.from({ length: 40 }, (_, index) => `"m${index}":0`).join()}}`,
      /has 40 members in one object; the limit is 16/,
    ],
    [
      "too many lists",
      `{"descriptors":[${Array(50).fill("[]").join()}]}`,
      /52 objects and lists; the limit is 17/,
    ],
  ];

  for (const workers of ["1", "2"]) {
    test(`by default are RESOURCE_EXHAUSTED and 413, WORKERS=${workers}`, async () => {
      const tollgate = await startTollgate({ config, env: { ...limits, WORKERS: workers } });
      const caller = new GrpcCaller(tollgate.grpc);
      try {
        await assert.rejects(caller.ask(many), { code: 8, details: /more than 3 descriptors/ });
        await assert.rejects(caller.ask(deep), { code: 8, details: /descriptor 1 has more than 2 entries/ });
        await assert.rejects(caller.askWithBytes(withValue(Buffer.alloc(20_000))), { code: 8 });
        for (const [name, body, detail] of bodies) {
          for (const address of [`${tollgate.http}/json`, `${tollgate.debug}/explain`]) {
            const response = await fetch(`http://${address}`, { method: "POST", body });
            assert.equal(response.status, 413, name);
            assert.match((JSON.parse(await response.text()) as { detail: string }).detail, detail);
          }
        }
        const { overallCode } = await caller.askWithBytes(withValue(Buffer.alloc(19_900, "v")));
        assert.equal(overallCode, 1, "a long value is valid");
        const stats = await (await fetch(`http://${tollgate.debug}/stats?filter=should_rate_limit`)).text();
        assert.match(stats, /oversized_request: 8$/m);
        assert.match(stats, /service_error: 0$/m);
      } finally {
        caller.close();
        assert.equal((await tollgate.stop()).code, 0);
      }
    });
  }

  test("under OVERSIZED_REQUEST=deny are OVER_LIMIT and 429", async () => {
    const tollgate = await startTollgate({ config, env: { ...limits, OVERSIZED_REQUEST: "deny" } });
    const caller = new GrpcCaller(tollgate.grpc);
    try {
      const asked = [
        caller.ask(many),
        caller.ask(deep),
        caller.askWithBytes(withValue(Buffer.alloc(20_000))),
      ];
      for (const response of await Promise.all(asked))
        assert.deepEqual([response.overallCode, response.statuses], [2, []]);
      for (const [name, body] of bodies)
        assert.deepEqual(
          await post(tollgate.http, "/json", body),
          { status: 429, body: { overallCode: "OVER_LIMIT" } },
          name,
        );
      const stats = await (await fetch(`http://${tollgate.debug}/stats?filter=should_rate_limit`)).text();
      assert.match(stats, /oversized_request: 8$/m);
    } finally {
      caller.close();
      assert.equal((await tollgate.stop()).code, 0);
    }
  });

  test("a gzip of two million empty descriptors takes little time and memory", async () => {
    const tollgate = await startTollgate({
      config,
      env: { DISABLE_STATS: "false", USE_PUSHSTATS: "false" },
    });
    const caller = new GrpcCaller(tollgate.grpc, undefined, { "grpc.default_compression_algorithm": 2 });
    try {
      assert.ok(gzipSync(emptyDescriptors(2_000_000)).length < 8000);
      const resident = async () =>
        Number(
          /resident_memory\S*: (\d+)/.exec(await (await fetch(`http://${tollgate.debug}/stats`)).text())![1],
        );
      const before = await resident();
      for (let call = 0; call < 10; call++) {
        await assert.rejects(caller.askWithBytes(emptyDescriptors(2_000_000)), {
          code: 8,
          details: /exceeds 262144 bytes/,
        });
        // As many descriptors as fit into the largest message.
        await assert.rejects(caller.askWithBytes(emptyDescriptors(131_000)), {
          code: 8,
          details: /more than 100 descriptors/,
        });
      }
      assert.ok((await resident()) - before < 64 * 1024 * 1024);
    } finally {
      caller.close();
      assert.equal((await tollgate.stop()).code, 0);
    }
  });
});

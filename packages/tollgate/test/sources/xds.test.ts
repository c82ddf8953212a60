import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createServer as createHttp2Server, type ServerHttp2Stream } from "node:http2";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { test as nodeTest } from "node:test";
import { scaled } from "../../../../tools/time-scale.ts";
import { COMPILER_THREAD } from "../../src/installation.ts";
import { RuleCompiler } from "../../src/sources/rule-compiler.ts";
import { XdsSource, type XdsSourceOptions } from "../../src/sources/xds.ts";
import { certificates } from "../servers/certificates.ts";
import { ManagementServer, resource, type ServerTlsFiles, TYPE_URL } from "./management-server.ts";
import { memoryLog, Recorder } from "./recorder.ts";

/** A delay between two attempts that the test ends. */
interface Wait {
  readonly milliseconds: number;
  go(): void;
}

interface Stage {
  readonly recorder: Recorder;
  readonly lines: readonly string[];
  serve(options?: { port?: number; tls?: ServerTlsFiles }): Promise<ManagementServer>;
  /** Starts a source. Its delays end when the test calls `go` on the result of {@link waited}. */
  start(address: string, options?: Partial<XdsSourceOptions>): XdsSource;
  /** The next delay of the source. */
  waited(): Promise<Wait>;
  /** Closes a server at the end of the test. */
  also<T extends { close(): unknown }>(server: T): T;
}

const encoder = new TextEncoder();
const secret = (text: string) => ({ reveal: () => text });

/** Defines a test that stops its servers and sources at the end. */
function test(name: string, body: (stage: Stage) => Promise<void>): void {
  nodeTest(name, { timeout: scaled(20_000) }, async () => {
    const recorder = new Recorder();
    const { log, lines } = memoryLog();
    const endings: (() => unknown)[] = [];
    const waits: Wait[] = [];
    let begun = Promise.withResolvers<void>();
    const stage: Stage = {
      recorder,
      lines,
      async serve(options) {
        const server = await ManagementServer.start(options);
        endings.push(() => server.stop());
        return server;
      },
      start(serverUrl, options = {}) {
        const source = new XdsSource(
          {
            serverUrl,
            nodeId: "test-node",
            nodeMetadata: [],
            connectTimeout: 5000,
            additionalHeaders: [],
            tls: undefined,
            maxMessageSize: 0,
            backoff: { initialInterval: 100, maxInterval: 500, factor: 1, jitter: false },
            mergeDomains: false,
            compiler: new RuleCompiler(COMPILER_THREAD),
            log,
            wait: (milliseconds, signal) => {
              const { promise, resolve } = Promise.withResolvers<void>();
              signal.addEventListener("abort", () => resolve());
              waits.push({ milliseconds, go: resolve });
              begun.resolve();
              return promise;
            },
            ...options,
          },
          recorder,
        );
        endings.unshift(() => source.stop());
        source.start();
        return source;
      },
      async waited() {
        while (waits.length === 0) {
          begun = Promise.withResolvers();
          await begun.promise;
        }
        return waits.shift()!;
      },
      also(server) {
        endings.push(() => server.close());
        return server;
      },
    };
    try {
      await body(stage);
    } finally {
      for (const end of endings) await end();
    }
  });
}

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise(setImmediate);
}

async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `localhost:${(server.address() as AddressInfo).port}`;
}

test("the first request contains the node and the type and requests all resources", async ({
  serve,
  start,
}) => {
  const server = await serve();
  start(server.address, {
    nodeId: "node-7",
    nodeMetadata: [
      ["zone", "a"],
      ["tier", "edge=1"],
    ],
    additionalHeaders: [
      ["authorization", secret("Bearer abc")],
      ["x-team", secret("edge")],
    ],
  });
  const stream = await server.stream();
  const { node, ...request } = await stream.next();
  assert.deepEqual([node?.id, node?.cluster, node?.metadata], ["node-7", "", { zone: "a", tier: "edge=1" }]);
  assert.deepEqual(
    [request.typeUrl, request.versionInfo, request.responseNonce, request.resourceNames, request.errorDetail],
    [TYPE_URL, "", "", [], undefined],
  );
  assert.deepEqual(stream.metadata.get("authorization"), ["Bearer abc"]);
  assert.deepEqual(stream.metadata.get("x-team"), ["edge"]);
});

test("a valid set is applied, then acknowledged", async ({ serve, start, recorder }) => {
  const server = await serve();
  start(server.address);
  const stream = await server.stream();
  await stream.next();
  stream.send("v1", "n1", [resource("one", "a"), resource("two", "b")]);
  const ack = await stream.next();
  assert.deepEqual(
    [ack.versionInfo, ack.responseNonce, ack.typeUrl, ack.errorDetail, ack.node],
    ["v1", "n1", TYPE_URL, undefined, undefined],
  );
  assert.deepEqual(
    recorder.all.map((one) => one.domains),
    [["a", "b"]],
    "the set is applied before it is acknowledged",
  );
  const match = recorder.all[0]!.ruleSet!.match("a", [{ key: "k", value: "x" }]);
  assert.equal(match?.rule.requestsPerUnit, 5);
  stream.send("v2", "n2", [resource("one", "c")]);
  assert.equal((await stream.next()).versionInfo, "v2");
  assert.deepEqual(recorder.all[1]!.domains, ["c"]);
});

test("every field of a resource arrives", async ({ serve, start, recorder }) => {
  const server = await serve();
  start(server.address);
  const stream = await server.stream();
  stream.send("v1", "n1", [
    {
      name: "all",
      domain: "d",
      descriptors: [
        {
          key: "outer",
          descriptors: [
            {
              key: "inner",
              value: "x*",
              shadowMode: true,
              detailedMetric: true,
              quotaMode: true,
              metadata: { tier: "gold", list: [1, null] },
              rateLimit: { unit: 7, requestsPerUnit: 9, name: "mine", replaces: [{ name: "other" }] },
            },
            { key: "free", rateLimit: { unlimited: true, name: "other" } },
          ],
        },
      ],
    },
  ]);
  const { ruleSet, diagnostics } = await recorder.next();
  assert.deepEqual(diagnostics, []);
  const rule = ruleSet!.match("d", [
    { key: "outer", value: "1" },
    { key: "inner", value: "xyz" },
  ])?.rule;
  assert.deepEqual(
    [rule?.unit, rule?.requestsPerUnit, rule?.name, rule?.replaces],
    [7, 9, "mine", ["other"]],
  );
  assert.deepEqual([rule?.shadowMode, rule?.detailedMetric, rule?.quotaMode], [true, true, true]);
  assert.deepEqual(rule?.metadata, { tier: "gold", list: [1, null] });
});

test("the fields that Tollgate adds to a limit arrive", async ({ serve, start, recorder }) => {
  const server = await serve();
  start(server.address);
  const stream = await server.stream();
  stream.send("v1", "n1", [
    {
      name: "limits",
      domain: "d",
      descriptors: [
        { key: "bucket", rateLimit: { unit: 1, requestsPerUnit: 10, algorithm: 2, burst: 50 } },
        {
          key: "week",
          rateLimit: {
            unit: 7,
            wideRequestsPerUnit: 2n ** 40n,
            calendar: { timeZone: "Europe/Berlin", weekStarts: 6 },
          },
        },
        {
          key: "list",
          rateLimits: [
            { unit: 2, requestsPerUnit: 5, unitMultiplier: 15 },
            { unit: 3, requestsPerUnit: 9, algorithm: 1, reservations: true },
            { unit: 4, requestsPerUnit: 90, count: 2, strict: true, name: "daily" },
          ],
        },
      ],
    },
  ]);
  const { ruleSet, diagnostics } = await recorder.next();
  assert.deepEqual(diagnostics, []);
  const limits = (key: string) => ruleSet!.match("d", [{ key, value: "" }])!.rule.limits!;
  const [bucket] = limits("bucket");
  assert.deepEqual([bucket!.algorithm, bucket!.burst, bucket!.keyPart], ["token_bucket", 50, "bucket:1"]);
  const [week] = limits("week");
  assert.equal(week!.requestsPerUnit, 2 ** 40);
  assert.equal(week!.keyPart, "calendar:week:Europe/Berlin:sunday:");
  assert.deepEqual(
    limits("list").map(({ keyPart, name, strict, reservations }) => [keyPart, name, strict, reservations]),
    [
      ["fixed:900:", "", false, false],
      ["sliding:3600", "", false, true],
      ["day:", "daily", true, false],
    ],
  );
});

test("an invalid set is refused with all messages, and the next valid set is applied", async ({
  serve,
  start,
  recorder,
}) => {
  const server = await serve();
  start(server.address);
  const stream = await server.stream();
  await stream.next();
  stream.send("v1", "n1", [resource("one", "a")]);
  await stream.next();
  await recorder.next();
  stream.send("v2", "n2", [
    { name: "first", domain: "", descriptors: [{ key: "k", rateLimit: { unit: 2, requestsPerUnit: 1 } }] },
    { name: "second", domain: "b", descriptors: [{ key: "", rateLimit: { unit: 0, requestsPerUnit: 1 } }] },
  ]);
  const nack = await stream.next();
  assert.deepEqual([nack.versionInfo, nack.responseNonce, nack.errorDetail?.code], ["v1", "n2", 3]);
  const message = nack.errorDetail?.message ?? "";
  assert.match(message, /first: domain/);
  assert.match(message, /second: descriptors\[0\]\.key/);
  assert.match(message, /second: descriptors\[0\]\.rate_limit/);
  const bad = await recorder.next();
  assert.equal(bad.domains, undefined);
  assert.deepEqual(bad.diagnostics.join("\n"), message);
  stream.send("v3", "n3", [resource("one", "c")]);
  const ack = await stream.next();
  assert.deepEqual([ack.versionInfo, ack.responseNonce, ack.errorDetail], ["v3", "n3", undefined]);
  assert.deepEqual((await recorder.next()).domains, ["c"]);
});

test("identical refusals use backoff, and the log shows the errors once", async ({
  serve,
  start,
  waited,
  recorder,
  lines,
}) => {
  const server = await serve();
  const clock = { now: 0 };
  start(server.address, { now: () => clock.now });
  const stream = await server.stream();
  await stream.next();
  const bad = [resource("one", "")];
  stream.send("v1", "n0", bad);
  assert.equal((await stream.next()).responseNonce, "n0");
  for (const [index, milliseconds] of [100, 200, 400, 800, 1600].entries()) {
    // Some servers answer each refusal with the same set under a new version and a new nonce.
    stream.send(`v${index + 2}`, `n${index + 1}`, bad);
    const wait = await waited();
    assert.equal(wait.milliseconds, milliseconds);
    assert.equal(stream.pending, 0, "a refusal without a pause");
    clock.now += wait.milliseconds;
    wait.go();
    const nack = await stream.next();
    assert.deepEqual([nack.responseNonce, nack.errorDetail?.code], [`n${index + 1}`, 3]);
  }
  assert.equal(recorder.all.filter(({ diagnostics }) => diagnostics.length > 0).length, 1);
  assert.equal(recorder.failures, 6, "each failed load is counted");
  assert.equal(lines.filter((line) => /same errors/.test(line)).length, 0);
  clock.now += 60_000;
  stream.send("v9", "n9", bad);
  await stream.next();
  assert.match(
    lines.filter((line) => /same errors/.test(line)).join(),
    /localhost:\d+' sent a set with the same errors 6 more times/,
  );
});

test("a valid set is applied at once and drops a pending refusal", async ({
  serve,
  start,
  waited,
  recorder,
}) => {
  const server = await serve();
  start(server.address, { now: () => 0 });
  const stream = await server.stream();
  await stream.next();
  const bad = [resource("one", "")];
  stream.send("v1", "n1", bad);
  await stream.next();
  stream.send("v1", "n2", bad);
  const wait = await waited();
  stream.send("v2", "n3", [resource("one", "good")]);
  const ack = await stream.next();
  assert.deepEqual([ack.versionInfo, ack.responseNonce, ack.errorDetail], ["v2", "n3", undefined]);
  await recorder.domains("good");
  wait.go();
  // The next invalid set is refused and reported at once.
  stream.send("v3", "n4", bad);
  const nack = await stream.next();
  assert.deepEqual([nack.versionInfo, nack.responseNonce], ["v2", "n4"]);
  assert.equal(recorder.all.filter(({ diagnostics }) => diagnostics.length > 0).length, 2);
});

test("the refusal of a later invalid set replaces a pending refusal", async ({
  serve,
  start,
  waited,
  recorder,
}) => {
  const server = await serve();
  start(server.address, { now: () => 0 });
  const stream = await server.stream();
  await stream.next();
  stream.send("v1", "n1", [resource("one", "")]);
  await stream.next();
  stream.send("v2", "n2", [resource("one", "")]);
  const wait = await waited();
  stream.send("v3", "n3", [resource("two", "")]);
  stream.sendRaw({ versionInfo: "x", nonce: "nx", typeUrl: "type.googleapis.com/envoy.Other" });
  stream.send("v4", "n4", [resource("three", "")]);
  await until(() => recorder.all.some(({ diagnostics }) => /three: domain/.test(diagnostics.join())));
  wait.go();
  const nack = await stream.next();
  assert.equal(nack.responseNonce, "n4");
  assert.match(nack.errorDetail?.message ?? "", /^three: domain/);
  assert.equal(stream.pending, 0);
});

test("repeated sets of the accepted version are acknowledged with backoff", async ({
  serve,
  start,
  waited,
}) => {
  const server = await serve();
  const clock = { now: 0 };
  start(server.address, { now: () => clock.now });
  const stream = await server.stream();
  await stream.next();
  for (const nonce of ["n1", "n2"]) {
    stream.send("v1", nonce, [resource("one", "a")]);
    assert.equal((await stream.next()).responseNonce, nonce);
  }
  for (const milliseconds of [100, 200]) {
    stream.send("v1", "again", [resource("one", "a")]);
    const wait = await waited();
    assert.equal(wait.milliseconds, milliseconds);
    clock.now += milliseconds;
    wait.go();
    const ack = await stream.next();
    assert.deepEqual([ack.versionInfo, ack.errorDetail], ["v1", undefined]);
  }
});

test("two resources may define one domain only when merging", async ({ serve, start, recorder }) => {
  const server = await serve();
  const both = [resource("one", "same", "k"), resource("two", "same", "l")];
  const source = start(server.address);
  const first = await server.stream();
  await first.next();
  first.send("v1", "n1", both);
  const nack = await first.next();
  assert.deepEqual([nack.versionInfo, nack.errorDetail?.code], ["", 3]);
  assert.match(nack.errorDetail?.message ?? "", /two: domain: .*same.*MERGE_DOMAIN_CONFIG/);
  assert.equal((await recorder.next()).domains, undefined);
  await source.stop();
  start(server.address, { mergeDomains: true });
  const second = await server.stream();
  second.send("v1", "n1", both);
  const { ruleSet } = await recorder.next();
  for (const key of ["k", "l"]) assert.ok(ruleSet?.match("same", [{ key, value: "1" }]), key);
});

test("a response without resources is a valid set of no domains", async ({ serve, start, recorder }) => {
  const server = await serve();
  start(server.address);
  const stream = await server.stream();
  await stream.next();
  stream.send("v1", "n1", []);
  assert.equal((await stream.next()).errorDetail, undefined);
  assert.deepEqual((await recorder.next()).domains, []);
});

test("an invalid resource is refused and counts as a failed load", async ({ serve, start, recorder }) => {
  const server = await serve();
  start(server.address);
  const stream = await server.stream();
  await stream.next();
  stream.sendRaw({
    versionInfo: "v1",
    nonce: "n1",
    typeUrl: TYPE_URL,
    resources: [
      { typeUrl: TYPE_URL, value: encoder.encode("\x0a\xff not a resource") },
      { typeUrl: "type.googleapis.com/envoy.Other", value: new Uint8Array() },
    ],
  });
  const nack = await stream.next();
  assert.equal(nack.errorDetail?.code, 3);
  assert.match(nack.errorDetail.message, /^resources\[0\]: cannot be decoded: /);
  assert.match(nack.errorDetail.message, /resources\[1\]: has the type "type.googleapis.com\/envoy.Other"/);
  const { domains, diagnostics } = await recorder.next();
  assert.equal(domains, undefined);
  assert.equal(diagnostics.length, 2);
});

test("a resource above the maximum nesting depth is refused", async ({ serve, start, recorder }) => {
  let bytes = Uint8Array.of(0x0a, 1, 0x6b);
  for (let depth = 0; depth < 5000; depth++) {
    const length = bytes.length;
    const varint: number[] = [];
    for (let left = length; ; left >>>= 7) {
      if (left < 128) {
        varint.push(left);
        break;
      }
      varint.push((left & 127) | 128);
    }
    bytes = Uint8Array.of((depth === 4999 ? 3 : 4) * 8 + 2, ...varint, ...bytes);
  }
  const server = await serve();
  start(server.address);
  const stream = await server.stream();
  await stream.next();
  stream.sendRaw({
    versionInfo: "v",
    nonce: "n",
    typeUrl: TYPE_URL,
    resources: [{ typeUrl: TYPE_URL, value: bytes }],
  });
  assert.match((await stream.next()).errorDetail?.message ?? "", /cannot be decoded: .*depth/);
  assert.equal((await recorder.next()).domains, undefined);
});

test("an invalid message counts as a failed load and opens a new stream", async ({
  serve,
  start,
  recorder,
  waited,
}) => {
  const server = await serve();
  start(server.address);
  const stream = await server.stream();
  await stream.next();
  stream.sendBytes(Uint8Array.of(0x0a, 0xff, 0xff, 0xff, 0xff, 0x0f));
  const { domains, diagnostics } = await recorder.next();
  assert.equal(domains, undefined);
  assert.match(diagnostics.join(), /cannot be decoded as a DiscoveryResponse/);
  await stream.closed;
  (await waited()).go();
  await (await server.stream()).next();
});

test("an error in applying a set ends the stream, not the process", async ({
  serve,
  start,
  recorder,
  waited,
  lines,
}) => {
  const server = await serve();
  recorder.onRules = () => {
    throw new Error("cannot apply these rules");
  };
  start(server.address);
  const stream = await server.stream();
  stream.send("v1", "n1", [resource("one", "a")]);
  await waited();
  assert.match(lines.join(""), /is unavailable: cannot apply these rules; retrying/);
});

test("responses of other types are logged once a minute with their count", async ({
  serve,
  start,
  recorder,
  lines,
}) => {
  const server = await serve();
  const clock = { now: 0 };
  start(server.address, { now: () => clock.now });
  const stream = await server.stream();
  await stream.next();
  const others = async (number: number, then: string): Promise<string[]> => {
    for (let i = 0; i < number; i++)
      stream.sendRaw({ nonce: "x", typeUrl: "type.googleapis.com/envoy.Other" });
    stream.send(then, then, [resource("one", then)]);
    await recorder.domains(then);
    return lines.filter((line) => /envoy\.Other/.test(line));
  };
  assert.equal((await others(50, "a")).length, 1);
  clock.now = 60_000;
  const all = await others(1, "b");
  assert.equal(all.length, 2);
  assert.match(all[1]!, /50 times since the last such line/);
});

test("a response of another type is ignored", async ({ serve, start, recorder, lines }) => {
  const server = await serve();
  start(server.address);
  const stream = await server.stream();
  await stream.next();
  stream.sendRaw({ versionInfo: "x", nonce: "nx", typeUrl: "type.googleapis.com/envoy.Other" });
  stream.send("v1", "n1", [resource("one", "a")]);
  assert.equal((await stream.next()).responseNonce, "n1");
  assert.deepEqual((await recorder.next()).domains, ["a"]);
  assert.match(lines.join(""), /envoy\.Other.*ignored/);
});

test("a new stream starts with the last accepted version and without a nonce", async ({
  serve,
  start,
  waited,
  recorder,
}) => {
  const server = await serve();
  start(server.address);
  const first = await server.stream();
  await first.next();
  first.send("v1", "n1", [resource("one", "a")]);
  await first.next();
  first.send("v2", "n2", [resource("one", "")]);
  await first.next();
  first.end();
  (await waited()).go();
  const second = await server.stream();
  const request = await second.next();
  assert.deepEqual(
    [request.versionInfo, request.responseNonce, request.node?.id, request.errorDetail],
    ["v1", "", "test-node", undefined],
  );
  second.fail("going down");
  (await waited()).go();
  const third = await server.stream();
  assert.equal((await third.next()).versionInfo, "v1");
  third.send("v3", "n3", [resource("one", "b")]);
  assert.equal((await third.next()).versionInfo, "v3");
  await recorder.domains("b");
});

test("the source reconnects to a restarted server", async ({ serve, start, waited, recorder }) => {
  const server = await serve();
  start(server.address);
  const stream = await server.stream();
  stream.send("v1", "n1", [resource("one", "a")]);
  await recorder.domains("a");
  server.stop();
  const wait = await waited();
  const again = await serve({ port: Number(server.address.split(":")[1]) });
  wait.go();
  const back = await again.stream();
  assert.equal((await back.next()).versionInfo, "v1");
  back.send("v2", "n2", [resource("one", "b")]);
  await recorder.domains("b");
});

test("a connection lost in the middle of a message changes nothing", async ({
  start,
  also,
  waited,
  serve,
  recorder,
}) => {
  const dying = also(createHttp2Server());
  dying.on("stream", (stream: ServerHttp2Stream) => {
    stream.on("error", () => {});
    stream.respond({ ":status": 200, "content-type": "application/grpc" }, { waitForTrailers: true });
    // The prefix announces 1000 bytes.
    stream.write(Buffer.from([0, 0, 0, 3, 232, 10, 2, 118, 49]), () => stream.session?.destroy());
  });
  const address = await listen(dying as unknown as Server);
  start(address);
  const wait = await waited();
  assert.equal(wait.milliseconds, 100);
  assert.deepEqual(recorder.all, []);
  await new Promise((resolve) => dying.close(resolve));
  const server = await serve({ port: Number(address.split(":")[1]) });
  wait.go();
  const stream = await server.stream();
  assert.equal((await stream.next()).versionInfo, "");
  stream.send("v1", "n1", [resource("one", "a")]);
  await recorder.domains("a");
});

test("a message above the size limit ends the stream", async ({ serve, start, waited, recorder, lines }) => {
  const large = [resource("one", "d".repeat(20_000))];
  const server = await serve();
  const source = start(server.address, { maxMessageSize: 10_000 });
  (await server.stream()).send("v1", "n1", large);
  await waited();
  assert.match(lines.join(""), /is unavailable: .*larger than max/i);
  await source.stop();
  start(server.address, { maxMessageSize: 100_000 });
  (await server.stream()).send("v1", "n1", large);
  await recorder.domains("d".repeat(20_000));
});

test("delays grow by the factor up to the maximum and start over after a success", async ({
  serve,
  start,
  waited,
  lines,
}) => {
  const closed = await serve();
  closed.stop();
  start(closed.address, {
    backoff: { initialInterval: 1000, maxInterval: 4000, factor: 0.5, jitter: false },
  });
  for (const expected of [1000, 1500, 2250, 3375, 4000]) {
    const wait = await waited();
    assert.equal(wait.milliseconds, expected);
    wait.go();
  }
  const wait = await waited();
  assert.equal(wait.milliseconds, 4000);
  assert.match(lines.join(""), /is unavailable: [^\n]*ECONNREFUSED 127\.0\.0\.1:\d+; retrying in 4000 ms/);
  const server = await serve({ port: Number(closed.address.split(":")[1]) });
  wait.go();
  const stream = await server.stream();
  await stream.next();
  stream.send("v1", "n1", []);
  await stream.next();
  server.stop();
  assert.equal((await waited()).milliseconds, 1000);
});

test("with jitter, a delay is random between 0 and the interval", async ({ serve, start, waited }) => {
  const closed = await serve();
  closed.stop();
  const randoms = [0, 0.5, 0.99];
  start(closed.address, {
    backoff: { initialInterval: 1000, maxInterval: 60_000, factor: 1, jitter: true },
    random: () => randoms.shift() ?? 0,
  });
  for (const expected of [0, 1000, 3960]) {
    const wait = await waited();
    assert.equal(wait.milliseconds, expected);
    wait.go();
  }
});

test("an attempt ends at the connect timeout", async ({ start, also, waited, lines }) => {
  const sockets: Socket[] = [];
  const silent = also(createServer((socket) => sockets.push(socket)));
  start(await listen(silent), { connectTimeout: 50 });
  await waited();
  assert.match(lines.join(""), /not connected within 50 ms/);
  for (const socket of sockets) socket.destroy();
});

test("the connect timeout does not apply to a connected server that responds slowly", async ({
  serve,
  start,
  recorder,
}) => {
  const server = await serve();
  start(server.address, { connectTimeout: scaled(30) });
  const stream = await server.stream();
  await stream.next();
  await new Promise((resolve) => setTimeout(resolve, scaled(100)));
  stream.send("v1", "n1", [resource("one", "a")]);
  await recorder.domains("a");
});

test("reload ends the delay, or requests all resources on a new stream", async ({
  serve,
  start,
  waited,
  recorder,
}) => {
  const closed = await serve();
  closed.stop();
  const source = start(closed.address);
  await waited();
  const server = await serve({ port: Number(closed.address.split(":")[1]) });
  source.reload();
  const first = await server.stream();
  await first.next();
  first.send("v1", "n1", [resource("one", "a")]);
  assert.equal((await first.next()).versionInfo, "v1");
  source.reload();
  await first.closed;
  const second = await server.stream();
  assert.equal((await second.next()).versionInfo, "");
  second.send("v1", "n1", [resource("one", "a")]);
  await recorder.domains("a");
  await recorder.domains("a");
});

test("after stop the stream is closed and there are no events", async ({ serve, start, recorder }) => {
  const server = await serve();
  const source = start(server.address);
  const stream = await server.stream();
  await stream.next();
  const stopped = source.stop();
  stream.send("v1", "n1", [resource("one", "a")]);
  await Promise.all([stopped, stream.closed]);
  assert.deepEqual(recorder.all, []);
});

test("stop returns at once while a connection attempt is pending", async ({ start, also }) => {
  const sockets: Socket[] = [];
  const silent = also(createServer((socket) => sockets.push(socket)));
  const source = start(await listen(silent), { connectTimeout: 600_000 });
  await source.stop();
  for (const socket of sockets) socket.destroy();
});

const tls = (): { server: ServerTlsFiles; client: NonNullable<XdsSourceOptions["tls"]> } => {
  const { ca, server, serverKey, client, clientKey } = certificates();
  return {
    server: { cert: server, key: serverKey, clientCa: ca },
    client: { cert: client, key: clientKey, caCert: ca, san: undefined },
  };
};

test("the source connects over TLS with a client certificate", async ({ serve, start, recorder }) => {
  const files = tls();
  const server = await serve({ tls: files.server });
  start(server.address, { tls: files.client });
  (await server.stream()).send("v1", "n1", [resource("one", "a")]);
  await recorder.domains("a");
});

test("the name of the server's certificate can be overridden", async ({ serve, start, recorder }) => {
  const { wrongName, wrongNameKey } = certificates();
  const server = await serve({ tls: { cert: wrongName, key: wrongNameKey } });
  start(server.address, {
    tls: { ...tls().client, cert: undefined, key: undefined, san: "elsewhere.example" },
  });
  (await server.stream()).send("v1", "n1", [resource("one", "a")]);
  await recorder.domains("a");
});

const refusedTls: [
  what: string,
  server: () => ServerTlsFiles | undefined,
  client: () => XdsSourceOptions["tls"],
][] = [
  ["no client certificate", () => tls().server, () => ({ ...tls().client, cert: undefined, key: undefined })],
  [
    "an unknown certificate authority",
    () => tls().server,
    () => ({ ...tls().client, caCert: certificates().otherCa }),
  ],
  ["another name", () => tls().server, () => ({ ...tls().client, san: "other.example" })],
  [
    "a certificate for another host",
    () => ({ cert: certificates().wrongName, key: certificates().wrongNameKey }),
    () => tls().client,
  ],
  ["a server without TLS", () => undefined, () => tls().client],
  ["a client without TLS", () => tls().server, () => undefined],
  ["a missing file", () => tls().server, () => ({ ...tls().client, caCert: "/nowhere/ca.pem" })],
  ["a file without a certificate", () => tls().server, () => ({ ...tls().client, cert: tls().client.key })],
];
for (const [what, server, client] of refusedTls)
  test(`TLS: ${what} fails the attempt`, async ({ serve, start, waited, recorder, lines }) => {
    const files = server();
    const { address } = await serve(files === undefined ? {} : { tls: files });
    start(address, { tls: client(), connectTimeout: 2000 });
    await waited();
    assert.match(lines.join(""), /the management server 'localhost:\d+' is unavailable: /);
    assert.deepEqual(recorder.all, []);
  });

nodeTest("the gRPC library is not loaded before a source starts", () => {
  const script = `
    await import(${JSON.stringify(new URL("../../src/sources/xds.ts", import.meta.url).href)});
    const { createRequire } = await import("node:module");
    const cache = Object.keys(createRequire(import.meta.url).cache);
    console.log(cache.filter((path) => path.includes("@grpc")).length);
  `;
  const output = execFileSync(process.execPath, ["--input-type=module", "-e", script], {
    cwd: import.meta.dirname,
    encoding: "utf8",
  });
  assert.equal(output.trim(), "0");
});

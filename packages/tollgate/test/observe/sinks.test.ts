import assert from "node:assert/strict";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { type EventEmitter, once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { createLogger, type Logger } from "../../src/observe/log.ts";
import { createStatistics, type Registry } from "../../src/observe/registry.ts";
import { createAgentSink } from "../../src/observe/sinks/agent.ts";
import { Flusher, MAX_TIMER_SAMPLES } from "../../src/observe/sinks/flusher.ts";
import { createOutputSink } from "../../src/observe/sinks/output.ts";
import { createPushSink, type PushOptions } from "../../src/observe/sinks/push.ts";
import { Receiver } from "./receiver.ts";

const quiet: Logger = createLogger({
  writer: { dropped: 0, write: () => {}, flush: async () => {} },
});

function pushTo(registry: Registry, options: Partial<PushOptions>): Flusher {
  const sink = createPushSink(registry, {
    protocol: "tcp",
    host: "127.0.0.1",
    port: 0,
    log: quiet,
    dropped: registry.counter("ratelimit.statistics.push.dropped"),
    reconnect: [5, 20],
    ...options,
  });
  return new Flusher(registry, sink, { interval: 60_000, log: quiet });
}

const rule = { domain: "basic", levels: ["key1"] };
const hits = "ratelimit.service.rate_limit.basic.key1.total_hits";
const responseTime = "ratelimit_server.ShouldRateLimit.response_time";

describe("the push sink", () => {
  for (const protocol of ["tcp", "udp", "unix"] as const)
    it(`speaks the statsd line protocol over ${protocol} (PUSHSTATS_PROTOCOL)`, async () => {
      const folder = mkdtempSync(join(tmpdir(), "tollgate-push-"));
      const path = join(folder, "statsd.sock");
      const receiver =
        protocol === "udp"
          ? await Receiver.datagrams()
          : await Receiver.stream(protocol === "unix" ? { path } : {});
      const registry = createStatistics();
      const flusher = pushTo(registry, {
        protocol,
        host: protocol === "unix" ? path : "127.0.0.1",
        port: receiver.port,
      });
      registry.rule(rule, false).totalHits = 5;
      registry.gauge("ratelimit.kvstore_pool.cx_active", () => 7);
      registry.timer(responseTime).record(0.31);
      await flusher.stop(5000);
      await receiver.until((lines) => lines.some(({ type }) => type === "ms"));
      await receiver.close();
      rmSync(folder, { recursive: true });
      const has = (line: object): void =>
        assert.ok(
          receiver.lines.some((each) => JSON.stringify(each) === JSON.stringify(line)),
          JSON.stringify(line),
        );
      has({ name: hits, value: 5, type: "c", rate: 1, tags: [] });
      has({ name: "ratelimit.kvstore_pool.cx_active", value: 7, type: "g", rate: 1, tags: [] });
      has({ name: responseTime, value: 0.31, type: "ms", rate: 1, tags: [] });
      assert.ok(receiver.packets.join("").includes(`${hits}:5|c\n`));
      assert.equal(registry.counter("ratelimit.statistics.push.dropped").value, 0);
    });

  it("sends counters as deltas and leaves zeros out", async () => {
    const receiver = await Receiver.stream();
    const registry = createStatistics();
    const flusher = pushTo(registry, { port: receiver.port });
    const counted = registry.rule(rule, false);
    const sent = (): number[] => receiver.lines.filter(({ name }) => name === hits).map(({ value }) => value);
    await flusher.whenReady(5000);
    counted.totalHits = 12;
    await flusher.flush();
    await receiver.until(() => sent().length === 1);
    await flusher.flush();
    counted.totalHits = 13;
    await flusher.stop(5000);
    await receiver.until(() => sent().length === 2);
    await receiver.close();
    assert.deepEqual(sent(), [12, 1]);
    assert.deepEqual(
      receiver.lines.filter(({ type, name }) => type === "c" && name !== hits),
      [],
    );
  });

  it("carries EXTRA_TAGS as sorted suffixes of the name", async () => {
    const receiver = await Receiver.stream();
    const registry = createStatistics({ tags: { foo: "bar", a: "1.2|3" } });
    const flusher = pushTo(registry, { port: receiver.port });
    registry.rule(rule, false).totalHits = 1;
    registry.counter("ratelimit.objcache.add.__code=error").value = 1;
    await flusher.stop(5000);
    await receiver.until((lines) => lines.length >= 2);
    await receiver.close();
    assert.equal(receiver.total(`${hits}.__a=1_2_3.__foo=bar`), 1);
    assert.equal(receiver.total("ratelimit.objcache.add.__a=1_2_3.__code=error.__foo=bar"), 1);
  });

  it("samples a timer beyond 1,000 calls in an interval, and sends the rate", async () => {
    const receiver = await Receiver.stream();
    const registry = createStatistics();
    const flusher = pushTo(registry, { port: receiver.port });
    const timer = registry.timer(responseTime);
    for (let i = 0; i < 4000; i++) timer.record(i);
    await flusher.stop(5000);
    const lines = (): typeof receiver.lines => receiver.lines.filter(({ type }) => type === "ms");
    await receiver.until(() => lines().length >= MAX_TIMER_SAMPLES);
    await receiver.close();
    assert.equal(lines().length, 1000);
    for (const line of lines()) assert.equal(line.rate, 0.25);
  });

  it("packs whole lines into datagrams that fit into a frame", async () => {
    const receiver = await Receiver.datagrams();
    const registry = createStatistics();
    const flusher = pushTo(registry, { protocol: "udp", port: receiver.port });
    for (let i = 0; i < 200; i++) registry.rule({ domain: "d", levels: [`key_ä${i}`] }, false).totalHits = 1;
    await flusher.stop(5000);
    await receiver.until((lines) => lines.filter(({ type }) => type === "c").length >= 200);
    await receiver.close();
    assert.ok(receiver.packets.length > 5 && receiver.packets.length < 50);
    for (const packet of receiver.packets) assert.ok(Buffer.byteLength(packet) <= 1432);
  });

  it("loses no count while the server is unavailable, and buffers nothing for it", async () => {
    const first = await Receiver.stream();
    const { port } = first;
    const registry = createStatistics();
    const flusher = pushTo(registry, { port });
    const counted = registry.rule(rule, false);
    await flusher.whenReady(5000);
    counted.totalHits = 3;
    await flusher.flush();
    await first.until(() => first.total(hits) === 3);
    await first.close();
    // The sink must detect the broken connection before the flushes that must not be lost.
    await untilNotReady(flusher);
    for (let i = 0; i < 50; i++) {
      counted.totalHits += 1;
      await flusher.flush();
    }
    const second = await Receiver.stream({ port });
    await flusher.whenReady(5000);
    await flusher.stop(5000);
    await second.until(() => second.total(hits) === 50);
    await second.close();
    assert.equal(registry.counter("ratelimit.statistics.push.dropped").value, 0);
  });

  it("does not wait for a server that reads nothing, and bounds its buffer", async () => {
    const sockets: Socket[] = [];
    const server = createServer((socket) => {
      socket.pause();
      sockets.push(socket);
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as { port: number };
    const registry = createStatistics();
    const sink = createPushSink(registry, {
      protocol: "tcp",
      host: "127.0.0.1",
      port,
      log: quiet,
      dropped: registry.counter("ratelimit.statistics.push.dropped"),
    });
    await sink.room(5000);
    const series = registry.counters[0]!;
    // 80 MiB to a server that reads nothing, far more than the kernel's buffers.
    for (let i = 0; i < 1_500_000; i++) sink.counter(series, 0, 123_456_789);
    sink.commit();
    assert.equal(sink.ready, false);
    assert.ok(registry.counter("ratelimit.statistics.push.dropped").value > 100_000);
    const flusher = new Flusher(registry, sink, { interval: 10, log: quiet });
    registry.rule(rule, false).totalHits = 1;
    await flusher.flush();
    await flusher.stop(50);
    for (const socket of sockets) socket.destroy();
    server.close();
    await once(server, "close");
  });

  it("does not delay the shutdown if no server listens", async () => {
    const probe = await Receiver.stream();
    const { port } = probe;
    await probe.close();
    const registry = createStatistics();
    const flusher = pushTo(registry, { port, reconnect: [60_000, 60_000] });
    registry.rule(rule, false).totalHits = 1;
    // The stop must end long before its time limit, or the test exceeds its own.
    await flusher.stop(3_600_000);
    // The same after a long outage.
    const lines: string[] = [];
    const write = (line: string): void => void lines.push(line);
    const log = createLogger({ writer: { dropped: 0, write, flush: async () => {} } });
    const late = pushTo(registry, { port, log, reconnect: [60_000, 60_000] });
    while (lines.length === 0) await new Promise((resolve) => setImmediate(resolve));
    await late.stop(3_600_000);
  });

  it("logs the loss of the server once, and its return once", async () => {
    const lines: string[] = [];
    const log = createLogger({
      writer: { dropped: 0, write: (line) => void lines.push(line), flush: async () => {} },
    });
    const probe = await Receiver.stream();
    const { port } = probe;
    await probe.close();
    const registry = createStatistics();
    const flusher = pushTo(registry, { port, log });
    while (lines.length === 0) await new Promise((resolve) => setImmediate(resolve));
    const receiver = await Receiver.stream({ port });
    await flusher.whenReady(5000);
    await flusher.stop(1000);
    await receiver.close();
    assert.equal(lines.length, 2);
    assert.match(lines[0]!, /statistics: tcp 127\.0\.0\.1:\d+ is unavailable: .*ECONNREFUSED/);
    assert.match(lines[1]!, /statistics: connected to tcp 127\.0\.0\.1:\d+ again/);
  });

  it("keeps sending after an error of its UDP socket, and logs that once a minute", async () => {
    const lines: string[] = [];
    const log = createLogger({
      writer: { dropped: 0, write: (line) => void lines.push(line), flush: async () => {} },
    });
    const receiver = await Receiver.datagrams();
    const registry = createStatistics();
    let socket: EventEmitter | undefined;
    const seen = (message: unknown): void => {
      socket = (message as { socket: EventEmitter }).socket;
    };
    subscribe("udp.socket", seen);
    const flusher = pushTo(registry, { protocol: "udp", port: receiver.port, log });
    registry.rule(rule, false).totalHits = 3;
    try {
      while (socket === undefined) await new Promise(setImmediate);
    } finally {
      unsubscribe("udp.socket", seen);
    }
    for (let i = 0; i < 10; i++) socket.emit("error", new Error("bind EMFILE"));
    await flusher.stop(5000);
    await receiver.until(() => receiver.total(hits) === 3);
    await receiver.close();
    assert.equal(lines.length, 1, lines.join(""));
    assert.match(lines[0]!, /statistics: UDP to 127\.0\.0\.1: bind EMFILE/);
  });

  it("keeps flushing after a failed flush, and logs that once a minute", async () => {
    const lines: string[] = [];
    const log = createLogger({
      writer: { dropped: 0, write: (line) => void lines.push(line), flush: async () => {} },
    });
    const registry = createStatistics();
    let [flushes, fails] = [0, true];
    registry.beforeRead(async () => {
      flushes++;
      if (fails) throw new Error("a thread is gone");
    });
    const receiver = await Receiver.stream();
    const sink = createPushSink(registry, {
      protocol: "tcp",
      host: "127.0.0.1",
      port: receiver.port,
      log: quiet,
      dropped: { value: 0 },
    });
    const flusher = new Flusher(registry, sink, { interval: 1, log });
    flusher.start();
    const hold = setInterval(() => {}, 1000);
    registry.rule(rule, false).totalHits = 3;
    while (flushes < 5) await new Promise(setImmediate);
    fails = false;
    await receiver.until(() => receiver.total(hits) === 3);
    clearInterval(hold);
    await flusher.stop(1000);
    await receiver.close();
    assert.equal(lines.length, 1, lines.join(""));
    assert.match(lines[0]!, /statistics: a flush to push failed: Error: a thread is gone/);
  });

  it("flushes at its interval", async () => {
    const receiver = await Receiver.stream();
    const registry = createStatistics();
    const sink = createPushSink(registry, {
      protocol: "tcp",
      host: "127.0.0.1",
      port: receiver.port,
      log: quiet,
      dropped: { value: 0 },
    });
    const flusher = new Flusher(registry, sink, { interval: 10, log: quiet });
    flusher.start();
    const counted = registry.rule(rule, false);
    counted.totalHits = 1;
    const hold = setInterval(() => {}, 1000);
    await receiver.until(() => receiver.total(hits) === 1);
    counted.totalHits = 2;
    await receiver.until(() => receiver.total(hits) === 2);
    clearInterval(hold);
    await flusher.stop(1000);
    await receiver.close();
  });
});

async function untilNotReady(flusher: Flusher): Promise<void> {
  while (flusher.ready) await new Promise((resolve) => setImmediate(resolve));
}

describe("the agent sink", () => {
  async function sent(
    mogrifiers: Parameters<typeof createAgentSink>[1]["mogrifiers"],
    fill: (registry: Registry) => void,
    tags: Record<string, string> = {},
  ): Promise<Receiver> {
    const receiver = await Receiver.datagrams();
    const registry = createStatistics({ tags });
    const dropped = registry.counter("ratelimit.statistics.agent.dropped");
    const sink = createAgentSink(registry, {
      host: "127.0.0.1",
      port: receiver.port,
      mogrifiers,
      log: quiet,
      dropped,
    });
    const flusher = new Flusher(registry, sink, { interval: 60_000, log: quiet });
    fill(registry);
    registry.counter("last").value = 1;
    await flusher.stop(5000);
    await receiver.until((lines) => lines.some(({ type }) => type === "g"));
    await receiver.close();
    return receiver;
  }

  it("sends tags, those of EXTRA_TAGS unchanged", async () => {
    const receiver = await sent(
      [],
      (registry) => {
        registry.rule(rule, false).totalHits = 5;
        registry.timer(responseTime).record(0.25);
      },
      { version: "1.2.3", env: "prod" },
    );
    assert.deepEqual(
      receiver.lines.find(({ name }) => name === hits),
      { name: hits, value: 5, type: "c", rate: 1, tags: ["env:prod", "version:1.2.3"] },
    );
    assert.ok(receiver.packets.join("").includes(`${hits}:5|c|#env:prod,version:1.2.3\n`));
    assert.deepEqual(receiver.lines.find(({ type }) => type === "ms")?.value, 0.25);
  });

  it("mogrifies names: list order, first match wins, groups in name and tags", async () => {
    const receiver = await sent(
      [
        {
          name: "TOTAL",
          pattern: "^ratelimit\\.service\\.rate_limit\\.(.*)\\.(.*)\\.total_hits$",
          emit: "ratelimit.service.rate_limit.total_hits",
          tags: { domain: "$1", descriptor: "$2", all: "$0", none: "$9" },
        },
        {
          name: "REST",
          pattern: "rate_limit\\.(?P<domain>[^.]+)",
          emit: "rest.$1",
          tags: { kind: "other" },
        },
      ],
      (registry) => {
        const counted = registry.rule(rule, false);
        counted.totalHits = 5;
        counted.overLimit = 2;
        registry.counter("ratelimit.service.config_load_success").value = 1;
      },
    );
    const counters = receiver.lines.filter(({ type }) => type === "c");
    assert.deepEqual(
      counters.map(({ name, value, tags }) => [name, value, tags]).sort(),
      [
        ["last", 1, []],
        [
          "ratelimit.service.rate_limit.total_hits",
          5,
          ["domain:basic", "descriptor:key1", `all:${hits}`, "none:$9"],
        ],
        ["ratelimit.service.config_load_success", 1, []],
        ["rest.basic", 2, ["kind:other"]],
      ].sort(),
    );
  });

  const bad: readonly [object, RegExp][] = [
    [{ pattern: "" }, /^AGENTSTATS_MOGRIFIER_ONE_PATTERN is missing/],
    [{ pattern: "(" }, /^AGENTSTATS_MOGRIFIER_ONE_PATTERN is not a valid RE2 regular expression/],
    [{ emit: "" }, /^AGENTSTATS_MOGRIFIER_ONE_NAME is missing/],
    [{ tags: { "": "x" } }, /^AGENTSTATS_MOGRIFIER_ONE_TAGS has a tag without a key/],
    [{ tags: { k: "" } }, /^AGENTSTATS_MOGRIFIER_ONE_TAGS has no value for the tag k/],
  ];
  for (const [part, message] of bad)
    it(`refuses ${JSON.stringify(part)} at startup`, () => {
      const registry = createStatistics();
      const mogrifiers = [{ name: "ONE", pattern: "a", emit: "b", tags: {}, ...part }];
      assert.throws(
        () =>
          createAgentSink(registry, {
            host: "127.0.0.1",
            port: 1,
            mogrifiers,
            log: quiet,
            dropped: { value: 0 },
          }),
        { name: "SinkConfigError", code: "BAD_SINK_CONFIG", message },
      );
    });
});

describe("the output sink (USE_PUSHSTATS=false)", () => {
  it("prints one JSON line for each statistic at each flush", async () => {
    let text = "";
    const write = (lines: string): void => {
      text += lines;
    };
    const writer = { dropped: 0, write, flush: async () => {} };
    const registry = createStatistics({ tags: { env: "prod" } });
    const now = (): number => Date.UTC(2026, 0, 2, 3, 4, 5);
    const flusher = new Flusher(
      registry,
      createOutputSink(registry, { writer, now, dropped: { value: 0 } }),
      { interval: 60_000, log: quiet },
    );
    registry.rule(rule, false).totalHits = 5;
    registry.gauge("ratelimit.kvstore_pool.cx_active", () => 7);
    for (let i = 1; i <= 100; i++) registry.timer(responseTime).record(i);
    await flusher.flush();
    const lines = text
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    const time = "2026-01-02T03:04:05.000Z";
    assert.deepEqual(lines, [
      { time, name: `${hits}.__env=prod`, type: "counter", value: 5 },
      { time, name: "ratelimit.statistics.dynamic_keys.__env=prod", type: "gauge", value: 0 },
      { time, name: "ratelimit.kvstore_pool.cx_active.__env=prod", type: "gauge", value: 7 },
      {
        time,
        name: `${responseTime}.__env=prod`,
        type: "timer",
        count: 100,
        mean_ms: 50.5,
        p50_ms: 50,
        p99_ms: 99,
        max_ms: 100,
      },
    ]);
    await flusher.stop(100);
  });
});

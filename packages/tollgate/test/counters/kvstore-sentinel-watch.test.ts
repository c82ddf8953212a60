/** Rare behaviour of sentinels: lost epochs, slow answers, closed subscriptions. The tests use small servers of their own. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { describe, type TestContext, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { resolveOptions } from "../../src/counters/kvstore/kvstore-options.ts";
import { SentinelWatch } from "../../src/counters/kvstore/sentinel-watch.ts";
import { until } from "./kvstore-support.ts";

/** A sentinel under the control of a test. */
class FakeSentinel {
  master = "10.0.0.1";
  epoch = 0;
  /** Milliseconds before it answers AUTH. */
  slowness = 0;
  readonly sockets = new Set<Socket>();
  /** Connections with a subscription. */
  readonly subscribers = new Set<Socket>();
  readonly #server = createServer((socket) => {
    this.sockets.add(socket);
    socket.on("error", () => {});
    socket.on("close", () => {
      this.sockets.delete(socket);
      this.subscribers.delete(socket);
    });
    socket.on("data", (chunk) => void this.#answer(socket, chunk.toString()));
  });

  static async start(t: TestContext): Promise<FakeSentinel> {
    const sentinel = new FakeSentinel();
    sentinel.#server.listen(0, "127.0.0.1");
    await once(sentinel.#server, "listening");
    t.after(() => {
      for (const socket of sentinel.sockets) socket.destroy();
      sentinel.#server.close();
    });
    return sentinel;
  }

  get endpoint() {
    return { host: "127.0.0.1", port: (this.#server.address() as AddressInfo).port };
  }

  async #answer(socket: Socket, commands: string): Promise<void> {
    if (commands.includes("AUTH")) {
      await sleep(this.slowness);
      socket.write("+OK\r\n");
    }
    if (commands.includes("SUBSCRIBE")) {
      this.subscribers.add(socket);
      socket.write("*3\r\n$9\r\nsubscribe\r\n$14\r\n+switch-master\r\n:1\r\n");
    }
    if (commands.includes("get-master-addr-by-name"))
      socket.write(
        `*2\r\n${bulk(this.master)}${bulk("6379")}*2\r\n${bulk("config-epoch")}${bulk(`${this.epoch}`)}`,
      );
  }
}

const bulk = (text: string) => `$${text.length}\r\n${text}\r\n`;

/** Asks for the master until the sentinels answer in time: they share a slow machine with the watch. */
async function masterOf(watch: SentinelWatch): ReturnType<SentinelWatch["master"]> {
  for (;;) {
    try {
      return await watch.master();
    } catch (error) {
      if (!String(error).includes("did not answer within")) throw error;
    }
  }
}

describe("kvstore: rare behaviour of sentinels", () => {
  async function watched(t: TestContext, howMany: number) {
    const sentinels = await Promise.all(Array.from({ length: howMany }, () => FakeSentinel.start(t)));
    const target = {
      type: "sentinel",
      master: "m",
      sentinels: sentinels.map((one) => one.endpoint),
    } as const;
    const sentinelCredentials = { user: undefined, password: { reveal: () => "p" } };
    const moves: string[] = [];
    const watch = new SentinelWatch(target, resolveOptions({ target, sentinelCredentials }), (from, to) =>
      moves.push(`${from} ${to}`),
    );
    t.after(() => watch.close());
    return { watch, sentinels, moves };
  }

  test("rejects an outdated sentinel, and accepts newly installed sentinels after a while", async (t) => {
    let passed = 0;
    // A fraction would make ten seconds 9999.999999999 ms.
    const now = Math.ceil(performance.now());
    t.mock.method(performance, "now", () => now + passed);
    const { watch, sentinels, moves } = await watched(t, 1);
    const [sentinel] = sentinels;
    Object.assign(sentinel!, { master: "10.0.0.2", epoch: 3 });
    assert.deepEqual(await masterOf(watch), { host: "10.0.0.2", port: 6379 });
    Object.assign(sentinel!, { master: "10.0.0.1", epoch: 2 });
    await assert.rejects(masterOf(watch), /do not know of the failover to 10\.0\.0\.2:6379/);
    passed += 9000;
    await assert.rejects(masterOf(watch), /do not know of the failover/);
    sentinel!.epoch = 3;
    await masterOf(watch);
    sentinel!.epoch = 0;
    passed += 5000;
    await assert.rejects(
      masterOf(watch),
      /do not know of the failover/,
      "an up-to-date report restarts the wait",
    );
    passed += 10_000;
    assert.deepEqual(await masterOf(watch), { host: "10.0.0.1", port: 6379 });
    assert.deepEqual(moves, ["10.0.0.2:6379 10.0.0.1:6379"]);
    sentinel!.epoch = 1;
    await masterOf(watch);
  });

  test("opens a bounded number of connections to a slow sentinel", async (t) => {
    const { watch, sentinels } = await watched(t, 3);
    const slow = sentinels[2]!;
    slow.slowness = 300;
    for (let i = 0; i < 6; i++) await masterOf(watch);
    assert.ok(slow.sockets.size > 2, "it was asked again before its first answer");
    await until("one connection for requests and one subscription", () => slow.sockets.size === 2);
  });

  test("renews a lost subscription", async (t) => {
    const { sentinels } = await watched(t, 1);
    const [sentinel] = sentinels;
    await until("it is subscribed to", () => sentinel!.subscribers.size === 1);
    const [first] = sentinel!.subscribers;
    first!.destroy();
    await until(
      "it is subscribed to again",
      () => sentinel!.subscribers.size === 1 && !sentinel!.subscribers.has(first!),
    );
  });
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { StoreError } from "../store.ts";
import type { Connection } from "./connection.ts";
import { ConnectionPool, type PoolGauges } from "./connection-pool.ts";

// Cases that a real server does not produce on demand. test/counters/kvstore-pool.test.ts tests the rest with Redis.

class FakeConnection {
  closed = false;
  #onClose: (error: Error) => void = () => {};
  onClose(listener: (error: Error) => void): void {
    this.#onClose = listener;
  }
  destroy(): void {
    if (this.closed) return;
    this.closed = true;
    this.#onClose(new Error("closed"));
  }
}

function setUp(size: number) {
  const attempts: PromiseWithResolvers<Connection>[] = [];
  const gauges: PoolGauges = { cxActive: 0, cxTotal: 0, cxLocalClose: 0 };
  const lost: string[] = [];
  const connect = () => {
    const attempt = Promise.withResolvers<Connection>();
    attempts.push(attempt);
    return attempt.promise;
  };
  const pool = new ConnectionPool(size, connect, gauges, {
    free: () => {},
    overflowFailed: () => {},
    changed: () => {},
    lost: (error) => lost.push(error.message),
  });
  const end = async (index: number, connection: FakeConnection | Error) => {
    if (connection instanceof Error) attempts[index]!.reject(connection);
    else attempts[index]!.resolve(connection as unknown as Connection);
    await new Promise(setImmediate);
  };
  return { pool, attempts, gauges, lost, end };
}

const moved = new StoreError("STORE_UNAVAILABLE", "moved");

test("a restart neither waits for attempts to reach a hanging server nor uses their connections", async () => {
  const { pool, attempts, gauges, lost, end } = setUp(3);
  pool.fill();
  assert.equal(attempts.length, 3);
  pool.restart(moved);
  assert.equal(attempts.length, 6, "connects to the new server at once");
  const late = new FakeConnection();
  await end(0, late);
  await end(1, new Error("timed out at last"));
  assert.ok(late.closed, "a connection to the former server is closed");
  assert.deepEqual([gauges.cxActive, attempts.length, lost], [0, 6, []]);
  for (const index of [3, 4, 5]) await end(index, new FakeConnection());
  assert.deepEqual([gauges.cxActive, pool.active, attempts.length], [3, 3, 6]);
  pool.close();
  assert.equal(gauges.cxActive, 0);
});

test("treats a connection that closes at once as a failed attempt", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const { pool, attempts, gauges, lost, end } = setUp(1);
  pool.fill();
  const dead = new FakeConnection();
  dead.destroy();
  await end(0, dead);
  assert.deepEqual([pool.active, pool.hasFree, gauges.cxTotal], [0, false, 0]);
  assert.match(lost.join(), /closed the connection at once/);
  t.mock.timers.tick(12);
  assert.equal(attempts.length, 1, "the next attempt has a delay");
  t.mock.timers.tick(13);
  assert.equal(attempts.length, 2);
  pool.close();
});

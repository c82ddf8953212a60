/** STORE_REQUIRED_AT_START: the ports stay shut until the store has answered once. */
import assert from "node:assert/strict";
import { connect } from "node:net";
import { type TestContext, test } from "node:test";
import { MemcachedServer } from "./servers/memcached.ts";
import { freePort } from "./servers/process.ts";
import { RedisServer } from "./servers/redis.ts";
import { type RunningTollgate, startTollgate } from "./tollgate.ts";

const config = {
  "d.yaml": "domain: d\ndescriptors: [{ key: k, rate_limit: { unit: day, requests_per_unit: 5 } }]\n",
};

/** Starts a service with fixed ports, so that a test can tell that they are shut. */
async function start(t: TestContext, env: Readonly<Record<string, string>>) {
  const ports = [await freePort(), await freePort()] as const;
  const tollgate = await startTollgate({
    config,
    env: { BACKEND_TYPE: "", PORT: String(ports[0]), GRPC_PORT: String(ports[1]), ...env },
    unopened: true,
  });
  t.after(() => tollgate.stop("SIGKILL"));
  return { tollgate, isShut: async () => !(await isOpen(ports[0])) && !(await isOpen(ports[1])) };
}

function isOpen(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1", () => {
      socket.destroy();
      resolve(true);
    });
    socket.on("error", () => resolve(false));
  });
}

function waitsFor(tollgate: RunningTollgate, name: string, reason: string): Promise<string> {
  return tollgate.logged(
    new RegExp(
      `level=warning.*${name} does not answer: .*${reason}.*; the gRPC and HTTP ports stay shut until it does \\(docs: settings\\.md#STORE_REQUIRED_AT_START\\)`,
    ),
  );
}

test("no key-value store: the ports open when it answers", async (t) => {
  const port = await freePort();
  const { tollgate, isShut } = await start(t, { REDIS_URL: `127.0.0.1:${port}` });
  await waitsFor(tollgate, "the key-value store", `cannot connect to 127.0.0.1:${port}: ECONNREFUSED`);
  assert.ok(await isShut());
  assert.equal((await fetch(`http://${tollgate.debug}/rlconfig`)).status, 200, "the debug port is open");
  const redis = await RedisServer.start({ port });
  t.after(() => redis.stop());
  await tollgate.logged(/the key-value store has answered after \d+\.\d s/);
  await tollgate.logged(/Listening for HTTP/);
  await redis.stop();
  assert.equal(
    (await fetch(`http://${tollgate.http}/healthcheck`)).status,
    200,
    "a later outage closes nothing",
  );
});

test("a wrong password, and a user without permissions, keep the ports shut", async (t) => {
  const redis = await RedisServer.start({
    config: ["requirepass right", "user limited on >secret ~* +ping"],
    auth: ["right"],
  });
  t.after(() => redis.stop());
  const cases = [
    ["wrong", `${redis.url} refused AUTH: WRONGPASS`],
    ["", `${redis.url} refused PING: NOAUTH`],
    ["limited:secret", "NOPERM"],
  ] as const;
  for (const [auth, reason] of cases) {
    const { tollgate, isShut } = await start(t, { KVSTORE_URL: redis.url, KVSTORE_AUTH: auth });
    await waitsFor(tollgate, "the key-value store", reason);
    assert.ok(await isShut(), auth);
    assert.ok(!tollgate.log.join("\n").includes("secret"));
    assert.deepEqual(await tollgate.stop(), { code: 0, signal: null }, "SIGTERM ends the wait");
  }
});

test("every instance is required", async (t) => {
  const redis = await RedisServer.start();
  t.after(() => redis.stop());
  const { tollgate, isShut } = await start(t, {
    KVSTORE_URL: redis.url,
    KVSTORE_PERSECOND: "true",
    KVSTORE_PERSECOND_URL: "127.0.0.1:1",
    FORCE_START_WITHOUT_INITIAL_CONFIG: "true",
  });
  await waitsFor(tollgate, "the key-value store's per-second instance", "ECONNREFUSED");
  assert.ok(await isShut());
});

test("an object cache is required, too", async (t) => {
  const port = await freePort();
  const { tollgate, isShut } = await start(t, {
    BACKEND_TYPE: "memcache",
    MEMCACHE_HOST_PORT: `127.0.0.1:${port}`,
  });
  await waitsFor(tollgate, "the object cache", "ECONNREFUSED");
  assert.ok(await isShut());
  const memcached = await MemcachedServer.start({ port });
  t.after(() => memcached.stop());
  await tollgate.logged(/Listening for HTTP/);
});

for (const env of [
  { STORE_REQUIRED_AT_START: "false" },
  { KVSTORE_FAILURE_MODE: "allow" },
  { KVSTORE_FAILURE_MODE: "local" },
])
  test(`the ports open without the store: ${JSON.stringify(env)}`, async (t) => {
    const { tollgate } = await start(t, { KVSTORE_URL: "127.0.0.1:1", ...env });
    await tollgate.logged(/Listening for HTTP/);
    assert.equal((await fetch(`http://${tollgate.http}/healthcheck`)).status, 200);
  });

test("KVSTORE_STARTUP_MAX_ELAPSED_TIME: the process exits with 1", async (t) => {
  const { tollgate } = await start(t, {
    REDIS_URL: "127.0.0.1:1",
    REDIS_STARTUP_MAX_ELAPSED_TIME: "300ms",
  });
  await tollgate.logged(
    /the service cannot start: the key-value store has not answered within 300 ms: cannot connect to 127\.0\.0\.1:1: ECONNREFUSED \(docs: \S+\/docs\/errors\.md#STORE_UNAVAILABLE\)/,
  );
  assert.deepEqual(await tollgate.stop("SIGCONT"), { code: 1, signal: null });
});

/** KVSTORE_URL, _SOCKET_TYPE, _TYPE, _AUTH, _TLS and its files, _TLS_SKIP_HOSTNAME_VERIFICATION, against real servers. */
import assert from "node:assert/strict";
import { after, before, describe, type TestContext, test } from "node:test";
import { scaled } from "../../../../tools/time-scale.ts";
import type { KvstoreStore } from "../../src/counters/kvstore/kvstore.ts";
import { certificates } from "../servers/certificates.ts";
import { RedisCluster } from "../servers/cluster.ts";
import { RedisServer } from "../servers/redis.ts";
import { SentinelGroup } from "../servers/sentinel.ts";
import { countFails, countOne, makeKvstore, type TestKvstore } from "./kvstore-support.ts";

function open(t: TestContext, options: TestKvstore): KvstoreStore {
  const store = makeKvstore({ poolSize: 2, ...options });
  t.after(() => store.close());
  return store;
}

/** Each attempt to connect fails. Callers get the error after the wait for a connection. */
const refusedSoon = { onEmptyWait: scaled(50), timeout: scaled(2000) } as const;

describe("kvstore: addresses and credentials", () => {
  let plain: RedisServer;
  let locked: RedisServer;
  before(async () => {
    plain = await RedisServer.start();
    locked = await RedisServer.start({
      config: ["requirepass pa:ss%40", "user ann on >an:na ~* +@all", "user bob on >bobs ~* +@all -script"],
      auth: ["pa:ss%40"],
    });
  });
  after(() => Promise.all([plain.stop(), locked.stop()]));

  const forms: [string, () => TestKvstore, database?: number][] = [
    ["host:port", () => ({ url: plain.url })],
    ["host:port, type and socket named", () => ({ url: plain.url, type: "single", socketType: "tcp" })],
    ["localhost by name", () => ({ url: `localhost:${plain.port}` })],
    ["a path", () => ({ url: plain.socketPath })],
    ["a path, socket type unix", () => ({ url: plain.socketPath, socketType: "unix" })],
    ["unix://", () => ({ url: `unix://${plain.socketPath}` })],
    ["redis://", () => ({ url: `redis://127.0.0.1:${plain.port}` })],
    ["redis:// with a database", () => ({ url: `redis://127.0.0.1:${plain.port}/3` }), 3],
  ];
  for (const [name, options, database = 0] of forms)
    test(name, async (t) => {
      const store = open(t, options());
      const stem = `form|${name.replaceAll(" ", "_")}|hour:`;
      assert.equal(await countOne(store, { stem, hits: 2 }), 2);
      await plain.command("SELECT", database);
      const [key] = (await plain.command("KEYS", `${stem}*`)) as string[];
      assert.equal(await plain.command("GET", key!), "2");
      await plain.command("SELECT", 0);
    });

  const credentials: [string, () => TestKvstore][] = [
    ["a password that begins with nothing before its colon", () => ({ url: locked.url, auth: ":pa:ss%40" })],
    ["user and password, split at the first colon", () => ({ url: locked.url, auth: "ann:an:na" })],
    ["in the URL", () => ({ url: `redis://ann:an%3Ana@127.0.0.1:${locked.port}` })],
    ["a password only in the URL", () => ({ url: `redis://:pa:ss%2540@127.0.0.1:${locked.port}` })],
    ["the setting overrides the URL", () => ({ url: `redis://ann:wrong@${locked.url}`, auth: "ann:an:na" })],
    ["a user who may not load scripts", () => ({ url: locked.url, auth: "bob:bobs" })],
  ];
  for (const [name, options] of credentials)
    test(`AUTH: ${name}`, async (t) => {
      const store = open(t, options());
      const stem = `auth|${name}|hour:`;
      assert.equal(await countOne(store, { stem, hits: 5 }), 5);
      assert.equal(await countOne(store, { stem, hits: -2 }), 3);
    });

  test("AUTH: a wrong password is refused and never printed", async (t) => {
    for (const auth of ["pa:ss%40", "ann:secret-but-wrong", undefined]) {
      const store = open(t, { url: locked.url, ...refusedSoon, ...(auth !== undefined && { auth }) });
      const { error } = await countFails(store, "STORE_UNAVAILABLE");
      assert.match(error.message, auth === undefined ? /NOAUTH/ : /WRONGPASS/);
      assert.doesNotMatch(JSON.stringify([error.message, String(error.cause)]), /secret|ss%40/);
    }
  });

  test("refuses an invalid URL, and the message names the variable without its secrets", () => {
    const cases: [TestKvstore, RegExp][] = [
      [{ url: "localhost" }, /KVSTORE_URL="localhost" must be host:port/],
      [{ url: "localhost:0" }, /must be host:port/],
      [{ url: "localhost:66000" }, /must be host:port/],
      [{ url: "::1:6379" }, /must be host:port/],
      [{ url: "redis://u:geheim@:x/" }, /KVSTORE_URL=.* must be host:port/],
      [{ url: "redis://u:geheim@host/db" }, /must be a database number/],
      [{ url: "redis://u:geheim%E0%A4%A@host" }, /must be host:port/],
      [{ url: "mymaster", type: "sentinel" }, /at least one sentinel/],
      [{ url: "mymaster,a:1,", type: "sentinel" }, /at least one sentinel/],
      [{ url: "a:1,,b:2", type: "cluster" }, /must be the nodes/],
      [{ url: "a:1,b", type: "cluster" }, /must be the nodes/],
      [{ url: "a:1", poolSize: 0 }, /poolSize is 0/],
      [{ url: "a:1", tls: { certFile: "/nonexistent" } }, /needs its key/],
      [
        { url: "a:1", tls: { caFile: "/nonexistent/ca.pem" } },
        /cannot read the CA certificate \/nonexistent\/ca.pem \(ENOENT\)/,
      ],
    ];
    for (const [options, message] of cases)
      assert.throws(
        () => makeKvstore(options),
        (error: Error) => {
          assert.match(error.message, message);
          assert.doesNotMatch(error.message + String(error.cause), /geheim/);
          return true;
        },
      );
  });
});

describe("kvstore: TLS", () => {
  const files = certificates();
  const trusted = { caFile: files.ca, certFile: files.client, keyFile: files.clientKey };
  const serverConfig = (certificate: string, key: string) => [
    `tls-cert-file ${certificate}`,
    `tls-key-file ${key}`,
    `tls-ca-cert-file ${files.ca}`,
    "tls-auth-clients yes",
    "tls-replication yes",
    "tls-cluster yes",
  ];
  const config = serverConfig(files.server, files.serverKey);
  let right: RedisServer;
  let wrongName: RedisServer;
  before(async () => {
    right = await RedisServer.start({ config, tls: trusted });
    wrongName = await RedisServer.start({
      config: serverConfig(files.wrongName, files.wrongNameKey),
      tls: { ...trusted, skipHostnameVerification: true },
    });
  });
  after(() => Promise.all([right.stop(), wrongName.stop()]));

  const good: [string, () => TestKvstore][] = [
    ["client certificate and CA, by address", () => ({ url: right.url, tls: trusted })],
    ["by name", () => ({ url: `localhost:${right.port}`, tls: trusted })],
    ["rediss:// also uses the files", () => ({ url: `rediss://localhost:${right.port}/1`, tls: trusted })],
    [
      "a wrong name, not checked",
      () => ({ url: wrongName.url, tls: { ...trusted, skipHostnameVerification: true } }),
    ],
  ];
  for (const [name, options] of good)
    test(name, async (t) => {
      assert.equal(await countOne(open(t, options()), { stem: `tls|${name}|hour:` }), 1);
    });

  const bad: [string, () => TestKvstore, RegExp][] = [
    [
      "no client certificate",
      () => ({ url: right.url, tls: { caFile: files.ca } }),
      /cannot connect|ECONN|closed|alert/i,
    ],
    [
      "an authority that did not sign it",
      () => ({ url: right.url, tls: { ...trusted, caFile: files.otherCa } }),
      /UNABLE_TO_VERIFY|SELF_SIGNED|unable to verify/,
    ],
    [
      "unknown authority, though names are not checked",
      () => ({ url: right.url, tls: { ...trusted, caFile: files.otherCa, skipHostnameVerification: true } }),
      /UNABLE_TO_VERIFY|SELF_SIGNED|unable to verify/,
    ],
    [
      "the system's authorities only",
      () => ({ url: `rediss://localhost:${right.port}` }),
      /UNABLE_TO|SELF_SIGNED|unable/,
    ],
    ["a wrong name", () => ({ url: wrongName.url, tls: trusted }), /ERR_TLS_CERT_ALTNAME_INVALID/],
    ["plain text to a TLS port", () => ({ url: right.url }), /.*/],
  ];
  for (const [name, options, message] of bad)
    test(`refused: ${name}`, async (t) => {
      const { error } = await countFails(open(t, { ...options(), ...refusedSoon }), "STORE_UNAVAILABLE");
      assert.match(error.message, message);
    });

  test("sentinels over TLS, with their own passwords", async (t) => {
    const auth = ["gr:up"];
    const group = await SentinelGroup.start({
      redis: { config: [...config, "requirepass gr:up", "masterauth gr:up"], tls: trusted, auth },
      sentinel: {
        config: [...config, "requirepass se:ntinel", "sentinel sentinel-pass se:ntinel"],
        tls: trusted,
        auth: ["se:ntinel"],
      },
      sentinels: 2,
    });
    t.after(() => group.stop());
    const all = { type: "sentinel", url: group.url, tls: trusted } as const;
    const store = open(t, { ...all, auth: ":gr:up", sentinelAuth: ":se:ntinel" });
    assert.equal(await countOne(store, { stem: "tls|sentinel|hour:" }), 1);
    const without = open(t, { ...all, auth: ":gr:up", ...refusedSoon });
    const { error } = await countFails(without, "STORE_UNAVAILABLE");
    assert.match(error.message, /NOAUTH/);
    const onlySentinel = open(t, { ...all, sentinelAuth: ":se:ntinel", ...refusedSoon });
    assert.match((await countFails(onlySentinel, "STORE_UNAVAILABLE")).error.message, /NOAUTH/);
  });

  test("a cluster over TLS, with a password", async (t) => {
    const cluster = await RedisCluster.start(3, 0, {
      config: [...config, "requirepass cl:uster", "masterauth cl:uster"],
      tls: trusted,
      auth: ["cl:uster"],
    });
    t.after(() => cluster.stop());
    const store = open(t, { type: "cluster", url: cluster.url, tls: trusted, auth: ":cl:uster" });
    for (let i = 0; i < 20; i++) assert.equal(await countOne(store, { stem: `tls|cluster=${i}|hour:` }), 1);
  });
});

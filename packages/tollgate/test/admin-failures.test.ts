/** The admin API with client certificates, with a store that fails half way, and after a restart. */
import assert from "node:assert/strict";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { Agent, request as httpsRequest } from "node:https";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { scaled } from "../../../tools/time-scale.ts";
import { AdminClient, ALICE, adminAddress, adminEnv } from "./admin-support.ts";
import { Authority, type Pair } from "./authority.ts";
import { descriptor, GrpcCaller, request } from "./grpc-caller.ts";
import { temporaryFolder } from "./servers/process.ts";
import { RedisServer } from "./servers/redis.ts";
import { type RunningTollgate, startTollgate } from "./tollgate.ts";

const config = {
  "d.yaml": "domain: d\ndescriptors: [{ key: k, rate_limit: { unit: day, requests_per_unit: 3 } }]\n",
};
const target = { domain: "d", descriptor: "k=v" };

describe("client certificates", () => {
  const ours = new Authority("ours");
  const theirs = new Authority("theirs");
  const server = ours.issue("server", "DNS:localhost,IP:127.0.0.1");
  const operator = ours.issue("carol", "DNS:carol.example");
  const stranger = theirs.issue("carol", "DNS:carol.example");
  after(() => {
    ours.remove();
    theirs.remove();
  });
  const env = {
    ADMIN_PORT: "0",
    ADMIN_SERVER_USE_TLS: "true",
    ADMIN_SERVER_TLS_CERT: server.cert,
    ADMIN_SERVER_TLS_KEY: server.key,
    ADMIN_CLIENT_TLS_CACERT: ours.cert,
  };

  /** The status of a reset; the code of the error if the connection is refused. */
  function reset(tollgate: RunningTollgate, pair: Pair | undefined, token?: string, agent?: Agent) {
    const own = pair === undefined ? {} : { key: pair.keyPem, cert: pair.certPem };
    const options = {
      host: "127.0.0.1",
      port: Number(adminAddress(tollgate).split(":")[1]),
      path: "/admin/v1/counters/reset",
      method: "POST",
      ca: ours.pem,
      agent: agent ?? false,
      headers: {
        "content-type": "application/json",
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
      },
      ...own,
    } as const;
    return new Promise<number | "refused">((resolve) => {
      const sent = httpsRequest(options, (response) => {
        response.resume();
        response.on("end", () => resolve(response.statusCode!));
      });
      sent.on("error", () => resolve("refused"));
      sent.end(JSON.stringify(target));
    });
  }

  test("a certificate of the authority is a credential, and its name is in the audit log", async () => {
    const tollgate = await startTollgate({ config, env });
    try {
      assert.equal(await reset(tollgate, operator), 200);
      assert.equal(await reset(tollgate, undefined), "refused");
      assert.equal(await reset(tollgate, stranger), "refused");
      // A token is not a credential if no tokens are set.
      assert.equal(await reset(tollgate, undefined, ALICE), "refused");
      const agent = new Agent({ keepAlive: true, maxCachedSessions: 10 });
      for (let time = 0; time < 3; time++)
        assert.equal(await reset(tollgate, operator, undefined, agent), 200);
      agent.destroy();
      const lines = await tollgate.loggedTimes(/audit: /, 4);
      assert.equal(lines.length, 4);
      for (const line of lines) assert.match(line, /who\\?":\\?"carol/);
    } finally {
      await tollgate.stop();
    }
  });

  test("each request needs a certificate and a token if both are configured", async () => {
    const tollgate = await startTollgate({ config, env: { ...env, ADMIN_TOKENS: `alice:${ALICE}` } });
    try {
      assert.equal(await reset(tollgate, operator), 401);
      assert.equal(await reset(tollgate, undefined, ALICE), "refused");
      assert.equal(await reset(tollgate, operator, ALICE), 200);
      assert.match(await tollgate.logged(/audit: /), /who\\?":\\?"alice/);
    } finally {
      await tollgate.stop();
    }
  });

  test("ADMIN_CLIENT_TLS_SAN names the only certificate", async () => {
    const tollgate = await startTollgate({
      config,
      env: { ...env, ADMIN_CLIENT_TLS_SAN: "dave.example" },
    });
    try {
      assert.equal(await reset(tollgate, operator), "refused");
      assert.equal(await reset(tollgate, ours.issue("dave", "DNS:dave.example")), 200);
    } finally {
      await tollgate.stop();
    }
  });
});

describe("a change that fails half way", () => {
  async function withRedis(
    use: (redis: RedisServer, admin: AdminClient, tollgate: RunningTollgate) => Promise<void>,
  ) {
    await using redis = await RedisServer.start();
    const tollgate = await startTollgate({
      config,
      env: {
        ...adminEnv,
        BACKEND_TYPE: "kvstore",
        KVSTORE_URL: redis.url,
        KVSTORE_TIMEOUT: `${scaled(1000)}ms`,
      },
    });
    try {
      await use(redis, new AdminClient(tollgate), tollgate);
    } finally {
      await tollgate.stop();
    }
  }

  test("the answer names the part of the change that was made", async () => {
    await withRedis(async (redis, admin, tollgate) => {
      await redis.command("ACL", "SETUSER", "default", "-lpush");
      for (const [change, what, done] of [
        [() => admin.post("counters/reset", target), "counters.reset", /^the counters were reset$/],
        [
          () => admin.post("counters/grant", { ...target, hits: 2 }),
          "counters.grant",
          /^2 hits were granted until /,
        ],
        [
          () => admin.put("overrides/x", { ...target, requestsPerUnit: 9 }),
          "overrides.set",
          /^override x was set$/,
        ],
        [() => admin.delete("overrides/x"), "overrides.remove", /^override x was removed$/],
      ] as const) {
        const answer = await change();
        assert.equal(answer.status, 503, JSON.stringify(answer.json));
        assert.match(
          answer.json.detail,
          /could not keep the audit line, which is in the service's log: .*NOPERM/,
        );
        assert.equal(answer.json.done.length, 1);
        assert.match(answer.json.done[0], done);
        await tollgate.logged(new RegExp(`audit: .*${RegExp.escape(what)}`));
      }
      assert.equal((await admin.counter("d", "k=v")).json.limits[0].limit, 5, "the grant was made");
      assert.deepEqual((await admin.get("audit")).json.changes, []);
    });
  });

  test("changes nothing if the store refuses the first step", async () => {
    await withRedis(async (redis, admin, tollgate) => {
      const caller = new GrpcCaller(tollgate.grpc);
      await caller.ask(request("d", descriptor("k=v")));
      caller.close();
      await redis.command("ACL", "SETUSER", "default", "-del", "-hset");
      const reset = await admin.post("counters/reset", target);
      assert.equal(reset.status, 503);
      assert.match(reset.json.detail, /NOPERM.*may have been reset, or not/);
      assert.equal(reset.json.done, undefined);
      const set = await admin.put("overrides/x", { ...target, requestsPerUnit: 9 });
      assert.equal(set.status, 503, JSON.stringify(set.json));
      assert.equal((await admin.counter("d", "k=v")).json.limits[0].count, 1);
      assert.deepEqual((await admin.get("overrides")).json.overrides, []);
      assert.equal(tollgate.log.filter((line) => line.includes("audit: ")).length, 0);
    });
  });

  test("says that the store is unavailable", async () => {
    await withRedis(async (redis, admin) => {
      await redis.stop();
      for (const answer of [
        await admin.counter("d", "k=v"),
        await admin.get("counters"),
        await admin.post("counters/reset", target),
        await admin.get("audit"),
        await admin.get("overrides"),
        await admin.put("overrides/x", { ...target, requestsPerUnit: 9 }),
      ]) {
        assert.equal(answer.status, 503, JSON.stringify(answer.json));
        assert.match(answer.json.detail, /the store failed/);
      }
    });
  });
});

test("with EMBEDDED_STORE_SNAPSHOT, overrides and the audit log outlast the process, even a killed one", async () => {
  const folder = temporaryFolder("operators");
  const env = { ...adminEnv, EMBEDDED_STORE_SNAPSHOT: join(folder, "counters") };
  try {
    let tollgate = await startTollgate({ config, env });
    const set = await new AdminClient(tollgate).put("overrides/x", { ...target, requestsPerUnit: 9 });
    assert.equal(set.status, 200);
    for (const signal of ["SIGKILL", "SIGTERM"] as const) {
      await tollgate.stop(signal);
      tollgate = await startTollgate({ config, env });
      const admin = new AdminClient(tollgate);
      assert.equal((await admin.counter("d", "k=v")).json.limits[0].limit, 9, signal);
      assert.equal((await admin.get("audit")).json.changes[0].what, "overrides.set");
    }
    await tollgate.stop();
  } finally {
    await rm(folder, { recursive: true });
  }
});

describe("the file of the embedded store's overrides", () => {
  async function withFile(
    use: (start: () => Promise<RunningTollgate>, file: string) => Promise<void>,
  ): Promise<void> {
    const folder = temporaryFolder("operators");
    const snapshot = join(folder, "counters");
    const env = { ...adminEnv, BACKEND_TYPE: "embedded", EMBEDDED_STORE_SNAPSHOT: snapshot };
    const started: RunningTollgate[] = [];
    const start = async () => {
      const tollgate = await startTollgate({ config, env });
      started.push(tollgate);
      return tollgate;
    };
    try {
      await use(start, `${snapshot}.operators`);
    } finally {
      for (const tollgate of started) await tollgate.stop();
      await rm(folder, { recursive: true, force: true });
    }
  }

  const set = (admin: AdminClient, index: number) =>
    admin.put(`overrides/o${index}`, { domain: "d", descriptor: `k=${index}`, requestsPerUnit: 9 });

  test("has all of many concurrent changes, also after the process was killed", async () => {
    await withFile(async (start) => {
      const first = await start();
      const admin = new AdminClient(first);
      const answers = await Promise.all(Array.from({ length: 40 }, (_, index) => set(admin, index)));
      for (const { status, json } of answers) assert.equal(status, 200, JSON.stringify(json));
      await first.stop("SIGKILL");
      const second = await start();
      try {
        const again = new AdminClient(second);
        assert.equal((await again.get("overrides")).json.overrides.length, 40);
        assert.equal((await again.get("audit")).json.changes.length, 40);
      } finally {
        await second.stop();
      }
    });
  });

  test("a change that cannot be written is not made", async () => {
    await withFile(async (start, file) => {
      const tollgate = await start();
      try {
        const admin = new AdminClient(tollgate);
        assert.equal((await set(admin, 1)).status, 200);
        await rm(file);
        await mkdir(join(file, "in-the-way"), { recursive: true });
        const answer = await set(admin, 2);
        assert.equal(answer.status, 503, JSON.stringify(answer.json));
        await rm(file, { recursive: true });
        const ids = async () =>
          (await admin.get("overrides")).json.overrides.map(({ id }: { id: string }) => id).sort();
        assert.deepEqual(await ids(), ["o1"]);
        assert.equal((await set(admin, 3)).status, 200);
        assert.deepEqual(await ids(), ["o1", "o3"]);
      } finally {
        await tollgate.stop();
      }
    });
  });

  for (const [name, damage] of [
    ["truncated", (text: string) => text.slice(0, text.length / 2)],
    ["empty", () => ""],
    ["of another format", () => '{"version":1,"overrides":"{\\"format\\":7}","audit":[]}'],
  ] as const)
    test(`is reported if it is ${name}, and replaced by the next change`, async () => {
      await withFile(async (start, file) => {
        const first = await start();
        assert.equal((await set(new AdminClient(first), 1)).status, 200);
        await first.stop();
        await writeFile(file, damage(await readFile(file, "utf8")));
        const second = await start();
        try {
          await second.logged(/the overrides saved in .*\.operators are ignored: /);
          const admin = new AdminClient(second);
          assert.deepEqual((await admin.get("overrides")).json, { overrides: [] });
          assert.equal((await set(admin, 2)).status, 200);
        } finally {
          await second.stop();
        }
        const third = await start();
        assert.equal((await new AdminClient(third).get("overrides")).json.overrides.length, 1);
        await third.stop();
      });
    });
});

test("two replicas that set the same override at once: the last one stays, and the audit log has the order", async () => {
  await using redis = await RedisServer.start();
  const env = { ...adminEnv, BACKEND_TYPE: "kvstore", KVSTORE_URL: redis.url };
  const replicas = [await startTollgate({ config, env }), await startTollgate({ config, env })];
  try {
    const admins = replicas.map((replica) => new AdminClient(replica));
    const answers = await Promise.all(
      Array.from({ length: 30 }, (_, index) =>
        admins[index % 2]!.put("overrides/same", { ...target, requestsPerUnit: index }),
      ),
    );
    for (const { status, json } of answers) assert.equal(status, 200, JSON.stringify(json));
    const [one, two] = await Promise.all(admins.map((admin) => admin.get("overrides/same")));
    assert.deepEqual(one!.json, two!.json);
    const { changes } = (await admins[0]!.get("audit")).json;
    assert.equal(changes.length, 30);
    // Each change but the first replaced the one of another: no change was lost.
    const number = (view: { requestsPerUnit: number } | null) => view?.requestsPerUnit;
    const replaced = changes.map(({ before }: { before: { requestsPerUnit: number } | null }) =>
      number(before),
    );
    assert.equal(new Set(replaced).size, 30);
    assert.ok(!replaced.includes(one!.json.requestsPerUnit), "the last one was not replaced");
  } finally {
    for (const replica of replicas) await replica.stop();
  }
});

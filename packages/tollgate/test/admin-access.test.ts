/** Nothing on the admin port can be reached without its credential. */
import assert from "node:assert/strict";
import { rm, writeFile } from "node:fs/promises";
import { METHODS } from "node:http";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { ALICE, adminAddress, adminCall, adminEnv, BOB } from "./admin-support.ts";
import { until } from "./counters/kvstore-support.ts";
import { temporaryFolder } from "./servers/process.ts";
import { type RunningTollgate, startTollgate } from "./tollgate.ts";

const config = {
  "d.yaml": "domain: d\ndescriptors: [{ key: k, rate_limit: { unit: day, requests_per_unit: 3 } }]\n",
};

const paths = [
  "/",
  "/missing",
  "/admin",
  "/openapi.json",
  "/admin/v1",
  "/admin/v1/counters",
  "/admin/v1/counters?domain=d&descriptor=k=v",
  "/admin/v1/counters/reset",
  "/admin/v1/counters/grant",
  "/admin/v1/overrides",
  "/admin/v1/overrides/acme",
  "/admin/v1/audit",
];
// Node's client opens a tunnel for CONNECT, and the server closes the connection.
const methods = METHODS.filter((method) => method !== "CONNECT");
const body = { domain: "d", descriptor: "k=v" };

describe("access to the admin API", () => {
  let tollgate: RunningTollgate;
  let address: string;
  before(async () => {
    tollgate = await startTollgate({ config, env: adminEnv });
    address = adminAddress(tollgate);
  });
  after(async () => void (await tollgate.stop()));

  for (const path of paths)
    test(`every method of ${path} needs a credential`, async () => {
      for (const method of methods) {
        for (const token of [undefined, "", "x", ALICE.slice(0, -1), `${ALICE}x`, ALICE.toUpperCase()]) {
          const answer = await adminCall(address, path, { method, token, body: JSON.stringify(body) });
          assert.equal(answer.status, 401, `${method} ${path} with ${token}`);
          assert.equal(answer.headers["www-authenticate"], 'Bearer realm="tollgate admin"');
          if (method !== "HEAD")
            assert.deepEqual(Object.keys(answer.json).sort(), ["detail", "status", "title", "type"]);
        }
      }
    });

  test("these are all paths of the API, and its port is on the loopback interface unless ADMIN_HOST says otherwise", async () => {
    const document = (await adminCall(address, "/openapi.json", { token: ALICE })).json;
    for (const path of Object.keys(document.paths))
      assert.ok(paths.includes(path.replace("{id}", "acme")), `no test of ${path}`);
    assert.match(address, /^127\.0\.0\.1:/);
  });

  test("other places for a token do not count", async () => {
    for (const [path, headers] of [
      [`/admin/v1/audit?token=${ALICE}`, {}],
      [`/admin/v1/audit?access_token=${ALICE}`, {}],
      ["/admin/v1/audit", { cookie: `token=${ALICE}` }],
      ["/admin/v1/audit", { authorization: ALICE }],
      ["/admin/v1/audit", { authorization: `Basic ${Buffer.from(`alice:${ALICE}`).toString("base64")}` }],
      ["/admin/v1/audit", { "proxy-authorization": `Bearer ${ALICE}` }],
    ] as const)
      assert.equal((await adminCall(address, path, { headers })).status, 401, JSON.stringify(headers));
  });

  test("both operators are let in", async () => {
    for (const token of [ALICE, BOB])
      assert.equal((await adminCall(address, "/admin/v1/audit", { token })).status, 200);
  });

  test("a web page cannot use the port, even with the credential", async () => {
    for (const [headers, status] of [
      [{ host: address }, 200],
      [{ host: "localhost" }, 200],
      [{ host: "evil.example" }, 403],
      [{ origin: `http://${address}`, host: address }, 200],
      [{ origin: "http://evil.example" }, 403],
      [{ origin: "null" }, 403],
    ] as const) {
      const answer = await adminCall(address, "/admin/v1/audit", { token: ALICE, headers });
      assert.equal(answer.status, status, JSON.stringify(headers));
    }
  });

  test("changes take JSON only, and a fault changes nothing", async () => {
    const reset = "/admin/v1/counters/reset";
    const call = (given: unknown, headers = {}) =>
      adminCall(address, reset, { method: "POST", token: ALICE, body: given, headers });
    for (const type of ["text/plain", "application/x-www-form-urlencoded", "application/jsonp", ""])
      assert.equal((await call(body, { "content-type": type })).status, 415, type);
    for (const [given, field] of [
      ["", "body"],
      ["[]", "body"],
      ["{", "body"],
      [{}, "descriptor"],
      [{ domain: "d" }, "descriptor"],
      [{ descriptor: "k=v" }, "domain"],
      [{ ...body, more: 1 }, "more"],
      [{ domain: "d", descriptor: "k" }, "descriptor"],
      [{ domain: "d", descriptor: [] }, "descriptor"],
      [{ domain: "d", descriptor: [{ key: "k" }] }, "descriptor[0]"],
      [{ domain: "", descriptor: "k=v" }, "domain"],
      [{ ...body, reason: 7 }, "reason"],
      [{ ...body, reason: "x".repeat(201) }, "reason"],
      [{ domain: "d", descriptor: `k=${"x".repeat(3000)}` }, "descriptor"],
    ] as const) {
      const answer = await call(given, { "content-type": "application/json" });
      assert.equal(answer.status, 400, JSON.stringify(answer.json));
      assert.equal(answer.json.errors[0].name, field, JSON.stringify(answer.json));
    }
    assert.equal((await call("x".repeat(100_000), { "content-type": "application/json" })).status, 413);
    const { json } = await adminCall(address, "/admin/v1/audit", { token: ALICE });
    assert.deepEqual(json.changes, []);
  });

  test("the log reports refused requests once, without their tokens", async () => {
    const lines = await tollgate.loggedTimes(/without a valid credential/, 1);
    assert.equal(lines.length, 1);
    assert.ok(!tollgate.log.some((line) => line.includes(ALICE.slice(6))));
  });
});

test("without ADMIN_PORT there is no admin listener, and no other port serves its paths", async () => {
  const tollgate = await startTollgate({ config, env: { ADMIN_TOKENS: `alice:${ALICE}` } });
  try {
    assert.equal(adminAddress(tollgate), "");
    for (const address of [tollgate.http, tollgate.debug])
      assert.equal((await adminCall(address, "/admin/v1/overrides", { token: ALICE })).status, 404);
  } finally {
    await tollgate.stop();
  }
});

test("a file of tokens is reloaded, and a bad one is not used", async () => {
  const folder = temporaryFolder("tokens");
  const file = join(folder, "tokens");
  await writeFile(file, `# operators\ncarol:${"c".repeat(32)}\n`);
  const tollgate = await startTollgate({ config, env: { ADMIN_PORT: "0", ADMIN_TOKEN_FILE: file } });
  try {
    const address = adminAddress(tollgate);
    const status = async (token: string) => (await adminCall(address, "/admin/v1/audit", { token })).status;
    assert.equal(await status("c".repeat(32)), 200);
    await writeFile(file, `dave:${"d".repeat(32)}\n`);
    await until("the new token is valid", async () => (await status("d".repeat(32))) === 200);
    assert.equal(await status("c".repeat(32)), 401);
    await writeFile(file, "dave:short\n");
    await tollgate.logged(/line 1: must have tokens of 32 characters or more.*earlier tokens stay in use/);
    assert.equal(await status("d".repeat(32)), 200);
    assert.ok(!tollgate.log.some((line) => line.includes("short;")));
  } finally {
    await tollgate.stop();
    await rm(folder, { recursive: true });
  }
});

for (const [name, env, expected] of [
  ["no credential", { ADMIN_PORT: "0" }, /ADMIN_PORT.*needs a credential/],
  ["a short token", { ADMIN_PORT: "0", ADMIN_TOKENS: `a:${"x".repeat(31)}` }, /ADMIN_TOKENS.*32 characters/],
  [
    "a missing file",
    { ADMIN_PORT: "0", ADMIN_TOKEN_FILE: "/missing/tokens" },
    /cannot read \/missing\/tokens: ENOENT/,
  ],
  [
    "an authority without TLS",
    { ADMIN_PORT: "0", ADMIN_CLIENT_TLS_CACERT: "/ca.pem" },
    /ADMIN_SERVER_USE_TLS/,
  ],
] as const)
  test(`the service does not start with ${name}`, async () => {
    const tollgate = await startTollgate({ config, env, unopened: true });
    const { code } = await tollgate.stop("SIGCONT");
    assert.equal(code, 1);
    assert.ok(
      tollgate.log.some((line) => expected.test(line)),
      tollgate.log.join("\n"),
    );
    assert.ok(!tollgate.log.some((line) => line.includes("xxxx")));
  });

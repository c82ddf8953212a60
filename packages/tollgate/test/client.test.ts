import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { createServer } from "node:net";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { Authority } from "./authority.ts";
import { bareEnvironment, type RunningTollgate, startTollgate } from "./tollgate.ts";

// `tollgate client` as a command, against each kind of server and without one.

const ours = new Authority("ours");
const theirs = new Authority("theirs");
after(() => {
  ours.remove();
  theirs.remove();
});
const server = ours.issue("server", "DNS:localhost,DNS:tollgate.test,IP:127.0.0.1");
const good = ours.issue("client", "DNS:gateway.test");
const stranger = theirs.issue("client", "DNS:gateway.test");
const config = {
  "a.yaml": "domain: a\ndescriptors:\n  - key: k\n    rate_limit: { unit: day, requests_per_unit: 100 }\n",
};
const serverTls = {
  GRPC_SERVER_USE_TLS: "true",
  GRPC_SERVER_TLS_CERT: server.cert,
  GRPC_SERVER_TLS_KEY: server.key,
};

const command = fileURLToPath(new URL("../bin/tollgate.mjs", import.meta.url));
function client(...args: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  const argv = [command, "client", "-domain", "a", "-descriptors", "k=v", "-timeout", "5s", ...args];
  return new Promise((resolve) => {
    execFile(process.execPath, argv, { env: bareEnvironment }, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr }),
    );
  });
}

interface Case {
  readonly name: string;
  readonly at: "plain" | "tls" | "mutual" | "http" | "nowhere" | "silent";
  readonly host?: string;
  readonly flags?: readonly string[];
  /** The expected line on standard error; undefined if the call succeeds. */
  readonly fails?: RegExp;
}

const ca = ["-grpc-server-ca-file", ours.cert];
const pair = (cert: string, key: string) => ["-grpc-cert-file", cert, "-grpc-key-file", key];
const cases: readonly Case[] = [
  { name: "a server without TLS", at: "plain" },
  { name: "one with TLS, by its name", at: "tls", host: "localhost", flags: ca },
  { name: "one with TLS, by its IP address", at: "tls", flags: ca },
  {
    name: "one with TLS, by another name of its certificate",
    at: "tls",
    flags: [...ca, "-grpc-server-name", "tollgate.test"],
  },
  { name: "mutual TLS", at: "mutual", flags: [...ca, ...pair(good.cert, good.key)] },
  {
    name: "TLS without being asked to",
    at: "tls",
    fails: /status 14: .*connected without TLS; check that the service listens on/,
  },
  {
    name: "TLS whose authority is unknown",
    at: "tls",
    flags: ["-grpc-use-tls"],
    fails: /status 14: .*connected over TLS/,
  },
  {
    name: "TLS of another authority",
    at: "tls",
    flags: ["-grpc-server-ca-file", theirs.cert],
    fails: /status 14: .*verify/,
  },
  {
    name: "TLS with a name that its certificate does not have",
    at: "tls",
    flags: [...ca, "-grpc-server-name", "elsewhere.test"],
    fails: /status 14: .*elsewhere\.test/,
  },
  { name: "mutual TLS without a certificate", at: "mutual", flags: ca, fails: /status 14/ },
  {
    name: "mutual TLS with an unrelated authority's",
    at: "mutual",
    flags: [...ca, ...pair(stranger.cert, stranger.key)],
    fails: /status 14/,
  },
  {
    name: "a certificate with another's key",
    at: "mutual",
    flags: [...ca, ...pair(good.cert, stranger.key)],
    fails: /key values mismatch/,
  },
  {
    name: "a missing file",
    at: "tls",
    flags: ["-grpc-server-ca-file", "/nowhere/ca.pem"],
    fails: /\/nowhere\/ca\.pem/,
  },
  { name: "TLS, of a server without", at: "plain", flags: ca, fails: /status 14: .*connected over TLS/ },
  { name: "an HTTP port", at: "http", fails: /status 14/ },
  {
    name: "a dead server",
    at: "nowhere",
    fails: /status 14: .*ECONNREFUSED.*check that the service listens on 127\.0\.0\.1:1\)/,
  },
  {
    name: "a server that accepts and never answers",
    at: "silent",
    flags: ["-timeout", "500ms"],
    fails: /status (4|14): /,
  },
];

describe("tollgate client calls", { concurrency: 3 }, () => {
  const services = new Map<string, RunningTollgate>();
  const sockets = new Set<{ destroy(): void }>();
  const silent = createServer((socket) => sockets.add(socket.on("error", () => undefined)));
  const addresses = new Map<Case["at"], string>([["nowhere", "127.0.0.1:1"]]);
  before(async () => {
    const mutual = { ...serverTls, GRPC_CLIENT_TLS_CACERT: ours.cert, GRPC_CLIENT_TLS_SAN: "gateway.test" };
    for (const [at, env] of [
      ["plain", {}],
      ["tls", serverTls],
      ["mutual", mutual],
    ] as const) {
      const tollgate = await startTollgate({ config, env });
      services.set(at, tollgate);
      addresses.set(at, tollgate.grpc);
    }
    addresses.set("http", services.get("plain")!.http);
    await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
    addresses.set("silent", `127.0.0.1:${(silent.address() as { port: number }).port}`);
  });
  after(async () => {
    for (const socket of sockets) socket.destroy();
    silent.close();
    for (const tollgate of services.values())
      assert.equal((await tollgate.stop()).code, 0, tollgate.log.join("\n"));
  });

  for (const { name, at, host = "127.0.0.1", flags = [], fails } of cases) {
    test(`${name}: ${fails === undefined ? "an answer" : "one clear line, exit status 1"}`, async () => {
      const address = addresses.get(at)!.replace("127.0.0.1", host);
      const { code, stdout, stderr } = await client("-dial_string", address, ...flags);
      if (fails === undefined) {
        assert.equal(stderr, "");
        assert.equal(code, 0);
        assert.match(
          stdout,
          /^OK {2}[\d.]+ ms\n {2}k=v {2}OK {10}\d+ of 100 per DAY left, resets in \d+ s\n$/,
        );
      } else {
        assert.equal(code, 1, stderr);
        assert.match(stderr, /^tollgate client: /);
        assert.match(stderr, new RegExp(fails.source, "s"));
        assert.doesNotMatch(stderr, /\n +at |node:internal/);
        assert.equal(stdout, "");
      }
    });
  }

  const targets: readonly (readonly [address: string, status: number])[] = [
    ["", 2],
    ["no such host", 1],
    ["a:b:c", 1],
    ["dns:///", 1],
  ];
  for (const [address, status] of targets) {
    test(`-dial_string ${JSON.stringify(address)} is not an address: exit status ${status}, no stack trace`, async () => {
      const { code, stderr } = await client("-dial_string", address, "-timeout", "2s");
      assert.equal(code, status);
      assert.match(stderr, /^tollgate client: /);
      assert.doesNotMatch(stderr, /\n +at /);
    });
  }
});

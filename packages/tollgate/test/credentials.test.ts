import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { scaled } from "../../../tools/time-scale.ts";
import { descriptor, GrpcCaller, request } from "./grpc-caller.ts";
import { startTollgate } from "./tollgate.ts";

// Credentials never appear in trace logs, pages, responses or errors.

const SECRET = "hunter2-9f8e7d";
const config = {
  "a.yaml": "domain: a\ndescriptors:\n  - key: k\n    rate_limit: { unit: day, requests_per_unit: 100 }\n",
};
const folder = mkdtempSync(join(tmpdir(), "tollgate-credentials-"));
after(() => rmSync(folder, { recursive: true, force: true }));

/** A store that answers every command with an error that quotes the command, credentials included. */
const parrot = createServer((socket) => {
  socket.on("error", () => undefined);
  socket.on("data", (bytes) => {
    const command = bytes.toString("latin1").replace(/[\r\n]+/g, " ");
    socket.write(`-ERR unknown command ${command}, with args beginning with: '${SECRET.slice(0, 6)}...\r\n`);
  });
});
before(() => once(parrot.listen(0, "127.0.0.1"), "listening"));
after(() => parrot.close());
const parrotPort = () => (parrot.address() as { port: number }).port;

/** The ports open without the store, so that calls reach the code that fails. */
const notRequired = { STORE_REQUIRED_AT_START: "false" };

const running: [string, () => Record<string, string>][] = [
  [
    "KVSTORE_AUTH, KVSTORE_PERSECOND_AUTH and KVSTORE_SENTINEL_AUTH, of a store that quotes them",
    () => ({
      KVSTORE_URL: `127.0.0.1:${parrotPort()}`,
      KVSTORE_AUTH: `someone:${SECRET}`,
      KVSTORE_PERSECOND: "true",
      KVSTORE_PERSECOND_URL: `127.0.0.1:${parrotPort()}`,
      KVSTORE_PERSECOND_AUTH: SECRET,
      ...notRequired,
    }),
  ],
  [
    "a URL with a password, of an unavailable store",
    () => ({ REDIS_URL: `redis://someone:${SECRET}@127.0.0.1:1`, ...notRequired }),
  ],
  [
    "KVSTORE_SENTINEL_AUTH",
    () => ({
      KVSTORE_TYPE: "sentinel",
      KVSTORE_URL: `main,127.0.0.1:${parrotPort()}`,
      KVSTORE_SENTINEL_AUTH: `someone:${SECRET}`,
      ...notRequired,
    }),
  ],
  [
    "CONFIG_GRPC_XDS_CLIENT_ADDITIONAL_HEADERS, of a server that is away",
    () => ({
      BACKEND_TYPE: "embedded",
      CONFIG_TYPE: "GRPC_XDS_SOTW",
      CONFIG_GRPC_XDS_SERVER_URL: "127.0.0.1:1",
      CONFIG_GRPC_XDS_CLIENT_ADDITIONAL_HEADERS: `<authorization:Bearer ${SECRET}>,<x-token:${SECRET}>`,
    }),
  ],
  [
    "OTEL_EXPORTER_OTLP_HEADERS, of a collector that is away",
    () => ({
      BACKEND_TYPE: "embedded",
      TRACING_ENABLED: "true",
      OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:1",
      OTEL_EXPORTER_OTLP_HEADERS: `authorization=Bearer ${SECRET}`,
    }),
  ],
];
describe("a running service", { concurrency: 4 }, () => {
  for (const [name, env] of running) {
    for (const workers of ["1", "2"]) {
      test(`${name}: never printed, WORKERS=${workers}`, async () => {
        const tollgate = await startTollgate({
          config,
          env: {
            BACKEND_TYPE: "",
            FORCE_START_WITHOUT_INITIAL_CONFIG: "true",
            LOG_LEVEL: "trace",
            KVSTORE_TIMEOUT: `${scaled(300)}ms`,
            SHUTDOWN_TIMEOUT: `${scaled(2000)}ms`,
            WORKERS: workers,
            ...env(),
          },
        });
        const seen: string[] = [];
        const body = JSON.stringify({ domain: "a", descriptors: [{ entries: [{ key: "k", value: "v" }] }] });
        const caller = new GrpcCaller(tollgate.grpc);
        const answer = await caller.ask(request("a", descriptor("k=v"))).catch((error: Error) => error);
        seen.push(answer instanceof Error ? answer.message : String(answer.overallCode));
        caller.close();
        const pages = [
          [tollgate.http, "/json", body],
          [tollgate.http, "/healthcheck", undefined],
          [tollgate.debug, "/explain", body],
          [tollgate.debug, "/rlconfig", undefined],
          [tollgate.debug, "/stats", undefined],
          [tollgate.debug, "/", undefined],
        ] as const;
        for (const [listener, path, sent] of pages) {
          const init = sent === undefined ? {} : { method: "POST", body: sent };
          seen.push(await (await fetch(`http://${listener}${path}`, init)).text());
        }
        assert.equal((await tollgate.stop()).code, 0);
        seen.push(...tollgate.log, ...tollgate.output);
        for (const text of seen) assert.ok(!text.includes(SECRET.slice(0, 6)), text);
        assert.ok(tollgate.log.length > 4, "the log has lines");
      });
    }
  }
});

const keyFile = join(folder, "key.pem");
writeFileSync(keyFile, `-----BEGIN PRIVATE KEY-----\n${SECRET}\n-----END PRIVATE KEY-----\n`);
const refused: [string, Record<string, string>][] = [
  ["an invalid URL", { KVSTORE_URL: `redis://someone:${SECRET}@host:port:7` }],
  ["a URL of an unknown kind", { KVSTORE_URL: `gopher://someone:${SECRET}@host:70` }],
  [
    "two spellings of a password",
    { KVSTORE_AUTH: `a${SECRET}`, REDIS_AUTH: `b${SECRET}`, KVSTORE_URL: "h:1" },
  ],
  [
    "headers that do not parse",
    {
      CONFIG_GRPC_XDS_CLIENT_ADDITIONAL_HEADERS: `<authorization Bearer ${SECRET}`,
      CONFIG_TYPE: "GRPC_XDS_SOTW",
    },
  ],
  ["a password without a store", { KVSTORE_AUTH: SECRET, PORT: "x" }],
  [
    "a key file without a key",
    { GRPC_SERVER_USE_TLS: "true", GRPC_SERVER_TLS_CERT: keyFile, GRPC_SERVER_TLS_KEY: keyFile },
  ],
];
describe("startup errors", { concurrency: 4 }, () => {
  for (const [name, env] of refused) {
    test(`${name}: refused without printing it`, async () => {
      for (const format of ["text", "json"]) {
        const tollgate = await startTollgate({
          config,
          env: { BACKEND_TYPE: "", LOG_LEVEL: "trace", LOG_FORMAT: format, ...env },
          unopened: true,
        });
        const kill = setTimeout(() => tollgate.signal("SIGKILL"), scaled(15_000));
        const { code } = await tollgate.stop("SIGCONT");
        clearTimeout(kill);
        const text = [...tollgate.log, ...tollgate.output].join("\n");
        assert.equal(code, 1, text);
        assert.ok(!text.includes(SECRET.slice(0, 6)), text);
      }
    });
  }
});

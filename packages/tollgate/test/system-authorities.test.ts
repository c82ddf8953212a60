/** Connections without a CA of their own trust the certificate store of the system, in every thread. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { descriptor, GrpcCaller, request } from "./grpc-caller.ts";
import { certificates } from "./servers/certificates.ts";
import { RedisServer } from "./servers/redis.ts";
import { ManagementServer, resource } from "./sources/management-server.ts";
import { startTollgate } from "./tollgate.ts";

const config = {
  "d.yaml": "domain: d\ndescriptors: [{ key: k, rate_limit: { unit: day, requests_per_unit: 100 } }]\n",
};

const files = certificates();

test("a store", async (t) => {
  const tls = ["server", "serverKey", "ca"] as const;
  const [cert, key, ca] = tls.map((name) => files[name]);
  const lines = [
    `tls-cert-file ${cert}`,
    `tls-key-file ${key}`,
    `tls-ca-cert-file ${ca}`,
    "tls-auth-clients no",
  ];
  const redis = await RedisServer.start({ tls: { caFile: files.ca }, config: lines });
  t.after(() => redis.stop());
  const env = { BACKEND_TYPE: "", KVSTORE_URL: redis.url, KVSTORE_TLS: "true" };
  const trusting = await startTollgate({ config, env: { ...env, WORKERS: "2", SSL_CERT_FILE: files.ca } });
  t.after(() => trusting.stop());
  // Eight connections reach both threads, which have their own connections to the store.
  for (let caller = 0; caller < 8; caller++) {
    const own = new GrpcCaller(trusting.grpc, undefined, { "grpc.use_local_subchannel_pool": 1 });
    t.after(() => own.close());
    const { statuses } = await own.ask(request("d", descriptor("k=v")));
    assert.equal(statuses[0]!.limitRemaining, 99 - caller);
  }
  const other = await startTollgate({
    config,
    env: { ...env, SSL_CERT_FILE: files.otherCa },
    unopened: true,
  });
  t.after(() => other.stop());
  await other.logged(/the key-value store does not answer: .*SELF_SIGNED_CERT_IN_CHAIN/);
  const named = await startTollgate({
    config,
    env: { ...env, SSL_CERT_FILE: files.ca, KVSTORE_TLS_CACERT: files.otherCa },
    unopened: true,
  });
  t.after(() => named.stop());
  await named.logged(/the key-value store does not answer: .*SELF_SIGNED_CERT_IN_CHAIN/);
});

test("a management server", async (t) => {
  const server = await ManagementServer.start({ tls: { cert: files.server, key: files.serverKey } });
  t.after(() => server.stop());
  const tollgate = await startTollgate({
    env: {
      CONFIG_TYPE: "GRPC_XDS_SOTW",
      CONFIG_GRPC_XDS_SERVER_URL: server.address,
      CONFIG_GRPC_XDS_SERVER_USE_TLS: "true",
      SSL_CERT_FILE: files.ca,
    },
    unopened: true,
  });
  t.after(() => tollgate.stop());
  (await server.stream()).send("v1", "n1", [resource("one", "d")]);
  await tollgate.logged(/Listening for HTTP/);
});

test("a collector of traces", async (t) => {
  const collected = Promise.withResolvers<string>();
  const tls = { cert: readFileSync(files.server), key: readFileSync(files.serverKey) };
  const collector = createServer(tls, (incoming, response) => {
    collected.resolve(`${incoming.method} ${incoming.url}`);
    incoming.resume();
    response.end();
  });
  await once(collector.listen(0, "127.0.0.1"), "listening");
  t.after(() => collector.close());
  const { port } = collector.address() as AddressInfo;
  const tollgate = await startTollgate({
    config,
    env: {
      TRACING_ENABLED: "true",
      OTEL_EXPORTER_OTLP_ENDPOINT: `https://localhost:${port}`,
      SSL_CERT_FILE: files.ca,
    },
  });
  const caller = new GrpcCaller(tollgate.grpc);
  await caller.ask(request("d", descriptor("k=v")));
  caller.close();
  // The stop flushes the spans.
  await tollgate.stop();
  assert.equal(await collected.promise, "POST /v1/traces");
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { startTollgate } from "./tollgate.ts";

// Each of these takes 3 to 16 MB of memory. A service that does not use them must not load them.

/** Prints the names of all loaded modules when the process ends. */
const hook = `
import { registerHooks } from "node:module";
const loaded = new Set();
registerHooks({ load: (url, context, next) => { loaded.add(url); return next(url, context); } });
process.on("exit", () => {
  for (const name of [...process.moduleLoadList, ...loaded]) process._rawDebug("loaded: " + name);
});`;

const unwanted: Readonly<Record<string, RegExp>> = {
  fetch: /NativeModule internal\/deps\/undici/,
  TLS: /NativeModule (?:_tls_wrap|tls|https)$/,
  "HTTP/2": /NativeModule internal\/http2/,
  "the inspector": /NativeModule inspector/,
  OpenTelemetry: /@opentelemetry/,
  "grpc-js": /@grpc\/grpc-js/,
  protobuf: /@bufbuild\/protobuf/,
  RE2: /re2js/,
  "the parser of Waymark": /oxc-parser/,
  "the other stores": /counters\/(?:kvstore|objcache)\//,
  xDS: /sources\/xds-/,
  "the metrics port": /sinks\/pull\//,
};

test("a service with default settings loads no module that only other settings need", async () => {
  const tollgate = await startTollgate({
    config: {
      "web.yaml":
        "domain: web\ndescriptors: [{ key: user, rate_limit: { unit: hour, requests_per_unit: 1 } }]",
    },
    env: {
      NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(hook)}`,
      DISABLE_STATS: "false",
      USE_PUSHSTATS: "true",
    },
  });
  try {
    const body = JSON.stringify({
      domain: "web",
      descriptors: [{ entries: [{ key: "user", value: "ann" }] }],
    });
    const json = () => fetch(`http://${tollgate.http}/json`, { method: "POST", body });
    assert.equal((await json()).status, 200);
    assert.equal((await json()).status, 429);
    const health = await fetch(`http://${tollgate.http}/healthcheck`);
    assert.equal(health.headers.get("content-type"), "text/plain; charset=utf-8");
    assert.equal(await health.text(), "OK");
  } finally {
    await tollgate.stop();
  }
  const loaded = tollgate.log.filter((line) => line.startsWith("loaded: "));
  assert.ok(loaded.some((line) => line.includes("service.ts")));
  const found = Object.entries(unwanted).flatMap(([name, pattern]) =>
    loaded.filter((line) => pattern.test(line)).map((line) => `${name}: ${line}`),
  );
  assert.deepEqual(found, []);
});

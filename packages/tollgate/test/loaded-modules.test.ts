import assert from "node:assert/strict";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { startTollgate } from "./tollgate.ts";

// Each of these takes 3 to 16 MB of memory. A service that does not use them must not load them.

/** Writes the names of all loaded modules to a file when the process ends. */
const hook = (file: string) => `
import { registerHooks } from "node:module";
import { writeFileSync } from "node:fs";
const loaded = new Set();
registerHooks({ load: (url, context, next) => { loaded.add(url); return next(url, context); } });
process.on("exit", () =>
  writeFileSync(${JSON.stringify(file)}, [...process.moduleLoadList, ...loaded].join("\\n")));`;

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

test("a service with default settings loads no module that only other settings need", async (context) => {
  const folder = await mkdtemp(join(tmpdir(), "tollgate-modules-"));
  context.after(() => rm(folder, { recursive: true }));
  const file = join(folder, "loaded");
  const tollgate = await startTollgate({
    config: {
      "web.yaml":
        "domain: web\ndescriptors: [{ key: user, rate_limit: { unit: hour, requests_per_unit: 1 } }]",
    },
    env: {
      NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(hook(file))}`,
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
  const loaded = (await readFile(file, "utf8")).split("\n");
  assert.ok(loaded.some((name) => name.endsWith("/service.ts")));
  const found = Object.entries(unwanted).flatMap(([name, pattern]) =>
    loaded.filter((one) => pattern.test(one)).map((one) => `${name}: ${one}`),
  );
  assert.deepEqual(found, []);
});

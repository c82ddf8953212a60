/** The manifests of `deploy/`: schemas, rules, and the files that they name. */
import assert from "node:assert/strict";
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { load } from "js-yaml";
import { runCheck } from "../src/commands/check.ts";
import { checkResources } from "./kubernetes.ts";

const deploy = fileURLToPath(new URL("../../../deploy/", import.meta.url));
const read = (path: string) => readFileSync(join(deploy, path), "utf8");

async function check(file: string): Promise<void> {
  let output = "";
  const stream = {
    write: (text: string) => {
      output += text;
    },
  };
  const status = await runCheck([file], { stdout: stream, stderr: stream, env: {}, cwd: "/" });
  assert.equal(status, 0, output);
}

for (const path of globSync("{kubernetes,istio,contour,envoy-gateway}/*.yaml", { cwd: deploy }).sort()) {
  if (!/^apiVersion:/m.test(read(path))) continue;
  test(`deploy/${path} matches the schemas of Kubernetes, and its rules are valid`, async () => {
    for (const { kind, metadata, data = {} } of checkResources(read(path))) {
      if (kind !== "ConfigMap" || !/rules|ratelimit-config/.test(metadata.name)) continue;
      const folder = mkdtempSync(join(tmpdir(), "tollgate-manifests-"));
      for (const [name, text] of Object.entries(data)) writeFileSync(join(folder, name), text);
      await check(folder).finally(() => rmSync(folder, { recursive: true }));
    }
  });
}

for (const path of globSync("{envoy/rules/*,*/rules}.yaml", { cwd: deploy }).sort())
  test(`deploy/${path} is valid`, () => check(join(deploy, path)));

test("deploy/compose/compose.yaml: the services depend on each other, and all mounted files exist", () => {
  const { services } = load(read("compose/compose.yaml")) as {
    services: Record<
      string,
      { volumes?: string[]; depends_on?: Record<string, { condition: string }>; healthcheck?: object }
    >;
  };
  assert.deepEqual(Object.keys(services).sort(), [
    "envoy",
    "grafana",
    "prometheus",
    "redis",
    "tollgate",
    "upstream",
  ]);
  for (const [name, { volumes = [], depends_on: needs = {} }] of Object.entries(services)) {
    for (const volume of volumes) {
      const [source] = volume.split(":");
      assert.ok(existsSync(resolve(deploy, "compose", source!)), `${name}: ${source}`);
    }
    for (const needed of Object.keys(needs))
      assert.ok(services[needed]?.healthcheck, `${needed} has no health check`);
  }
});

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { test } from "node:test";
import { verdictOf } from "./audit.ts";

const cases: readonly (readonly [Parameters<typeof verdictOf>[0], unknown, kind: string, detail: RegExp])[] =
  [
    ["vulnerabilities", { auditReportVersion: 2, vulnerabilities: {} }, "clean", /^none$/],
    ["vulnerabilities", { vulnerabilities: { a: { severity: "low" } } }, "clean", /a \(low\)/],
    [
      "vulnerabilities",
      { vulnerabilities: { a: { severity: "low" }, b: { severity: "high" } } },
      "found",
      /b \(high\)/,
    ],
    [
      "vulnerabilities",
      { message: "405", statusCode: 405, error: { summary: "" } },
      "unanswered",
      /status 405/,
    ],
    ["vulnerabilities", { error: { code: "ECONNREFUSED", summary: "" } }, "unanswered", /ECONNREFUSED/],
    [
      "vulnerabilities",
      { error: { code: "ENOLOCK", summary: "no lock file" } },
      "found",
      /ENOLOCK no lock file/,
    ],
    ["vulnerabilities", {}, "found", /npm failed/],
    ["signatures", { invalid: [], missing: [] }, "clean", /all valid/],
    [
      "signatures",
      { invalid: [{ name: "a", version: "1.0.0" }], missing: [] },
      "found",
      /a@1\.0\.0 \(invalid\)/,
    ],
    [
      "signatures",
      { invalid: [], missing: [{ name: "a", version: "1.0.0" }] },
      "found",
      /a@1\.0\.0 \(missing\)/,
    ],
    ["signatures", { error: { code: "ENOTFOUND", summary: "" } }, "unanswered", /ENOTFOUND/],
    ["signatures", { error: { code: "EEXPIREDSIGNATUREKEY", summary: "expired" } }, "found", /expired/],
  ];
for (const [check, output, kind, detail] of cases)
  test(`${check}: ${JSON.stringify(output)} is ${kind}`, () => {
    const verdict = verdictOf(check, JSON.stringify(output));
    assert.equal(verdict.kind, kind);
    assert.match(verdict.detail, detail);
  });

test("output that is not JSON is a finding", () => {
  assert.equal(verdictOf("signatures", "").kind, "found");
});

for (const [status, text] of [
  [200, /^known vulnerabilities: none\n$/],
  [405, /^known vulnerabilities: not checked: the registry answered with status 405\n$/],
] as const)
  test(`npm itself against a registry that answers ${status}`, async () => {
    const registry = createServer((request, response) => {
      request.resume();
      response.writeHead(status, { "content-type": "application/json" });
      response.end("{}");
    });
    registry.listen(0, "127.0.0.1");
    await once(registry, "listening");
    try {
      const { port } = registry.address() as AddressInfo;
      const child = spawn(process.execPath, [join(import.meta.dirname, "audit.ts"), "vulnerabilities"], {
        cwd: join(import.meta.dirname, ".."),
        env: { ...process.env, npm_config_registry: `http://127.0.0.1:${port}/` },
        stdio: ["ignore", "pipe", "inherit"],
      });
      let output = "";
      child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
        output += chunk;
      });
      const [code] = await once(child, "close");
      assert.match(output, text);
      assert.equal(code, 0);
    } finally {
      registry.close();
      registry.closeAllConnections();
    }
  });

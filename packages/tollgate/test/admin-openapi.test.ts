/** The OpenAPI document of the admin API: valid, and every answer is as it says. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Validator } from "@seriousme/openapi-schema-validator";
import { Ajv2020 } from "ajv/dist/2020.js";
import { ALICE, adminAddress, adminCall, adminEnv } from "./admin-support.ts";
import { httpReservations } from "./reservation-caller.ts";
import { startTollgate } from "./tollgate.ts";

const config = {
  "llm.yaml": `
domain: llm
descriptors:
  - { key: day, rate_limit: { unit: day, requests_per_unit: 4 } }
  - { key: bucket, rate_limit: { unit: day, requests_per_unit: 4, algorithm: token_bucket } }
  - { key: free, rate_limit: { unlimited: true } }
  - { key: shared, value: "a*", share_threshold: true, rate_limit: { unit: day, requests_per_unit: 4 } }
  - key: list
    rate_limits:
      - { requests_per_unit: 4, unit: day, unit_multiplier: 2 }
      - { requests_per_unit: 100, unit: year, name: yearly }
`,
};

type Content = Readonly<Record<string, { readonly schema: object }>>;

interface Operation {
  readonly responses: Readonly<Record<string, { readonly content: Content }>>;
  readonly requestBody?: { readonly content: Content };
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

test("the answers of the admin API match its OpenAPI document", async () => {
  const tollgate = await startTollgate({ config, env: { ...adminEnv, BACKEND_TYPE: "embedded" } });
  try {
    const address = adminAddress(tollgate);
    const document: Document = (await adminCall(address, "/openapi.json", { token: ALICE })).json;
    const { valid, errors } = await new Validator().validate(document as never);
    assert.ok(valid, JSON.stringify(errors));
    const ajv = new Ajv2020({ strict: false, validateFormats: false });
    ajv.addSchema({ ...document, $id: "document" });
    const fits = (schema: object, value: unknown, what: string) => {
      const own = JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"document#/')) as object;
      assert.ok(ajv.validate(own, value), `${what}: ${ajv.errorsText()}`);
    };
    const called = new Set<string>();
    const call = async (method: string, path: string, status: number, body?: object) => {
      const named = path.replace(/\?.*/, "").replace(/^overrides\/.*/, "overrides/{id}");
      const operation = document.paths[`/admin/v1/${named}`]![method.toLowerCase()]!;
      called.add(`${method} /admin/v1/${named}`);
      const answer = await adminCall(address, `/admin/v1/${path}`, { method, token: ALICE, body });
      const what = `${method} ${path} ${JSON.stringify(body)}: ${JSON.stringify(answer.json)}`;
      assert.equal(answer.status, status, what);
      const described = operation.responses[status];
      assert.ok(described !== undefined, what);
      const [type] = String(answer.headers["content-type"]).split(";");
      const content = described.content[type!];
      assert.ok(content !== undefined, `${type} of ${what}`);
      fits(content.schema, answer.json, what);
      const sent = operation.requestBody?.content["application/json"];
      if (status === 200 && body !== undefined) fits(sent!.schema, body, `the body of ${what}`);
    };
    const at = (descriptor: unknown) => ({ domain: "llm", descriptor });
    const gateway = httpReservations(tollgate.http, "llm");
    for (const target of ["day=a", "bucket=a", "list=a", "free=a"]) {
      await gateway.report(target, 2);
      await gateway.reserve(target, 1);
      await call("GET", `counters?domain=llm&descriptor=${target}`, 200);
    }
    const reason = "ticket 7";
    const calls: readonly (readonly [method: string, path: string, status: number, body?: object])[] = [
      ["GET", "counters?domain=llm&descriptor=none=a", 404],
      ["GET", "counters?domain=llm&descriptor=", 400],
      ["GET", "counters?limit=2", 200],
      ["GET", "counters?domain=llm&prefix=list", 200],
      ["POST", "counters/grant", 200, { ...at("day=a"), hits: 2, reason }],
      ["POST", "counters/grant", 200, { ...at([{ key: "bucket", value: "a" }]), hits: 2 }],
      ["POST", "counters/grant", 200, { ...at("list=a"), limit: "2_day", hits: 2 }],
      ["POST", "counters/grant", 400, at("day=a")],
      ["POST", "counters/grant", 501, { ...at("free=a"), hits: 1 }],
      ["GET", "counters?domain=llm&descriptor=day=a", 200],
      ["GET", "counters?domain=llm&descriptor=bucket=a", 200],
      ["PUT", "overrides/a", 200, { ...at("day=b"), requestsPerUnit: 0, expires: "2099-01-01T00:00:00Z" }],
      ["PUT", "overrides/b", 200, { ...at("bucket=b"), requestsPerUnit: 5, burst: 9 }],
      ["PUT", "overrides/c", 200, { ...at("list=b"), limit: "yearly", unlimited: true, reason }],
      ["PUT", "overrides/d", 409, { ...at("day=b"), requestsPerUnit: 1 }],
      ["PUT", "overrides/d", 501, { ...at("shared=ab"), requestsPerUnit: 1 }],
      ["PUT", "overrides/d", 404, { ...at("none=b"), requestsPerUnit: 1 }],
      ["GET", "overrides", 200],
      ["GET", "overrides/a", 200],
      ["GET", "overrides/none", 404],
      ["POST", "counters/reset", 200, { ...at("list=a"), reason }],
      ["DELETE", "overrides/a", 200],
      ["DELETE", "overrides/b", 200, { reason }],
      ["DELETE", "overrides/b", 404],
      ["GET", "audit", 200],
      ["GET", "audit?limit=0", 400],
    ];
    for (const [method, path, status, body] of calls) await call(method, path, status, body);
    const operations = Object.entries(document.paths).flatMap(([path, verbs]) =>
      Object.keys(verbs)
        .filter((verb) => verb !== "parameters")
        .map((verb) => `${verb.toUpperCase()} ${path}`),
    );
    assert.deepEqual([...called].sort(), operations.sort());
  } finally {
    await tollgate.stop();
  }
});

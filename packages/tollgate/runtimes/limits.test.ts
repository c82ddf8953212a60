/** The limits of a Tollgate in front of a Waymark method on each runtime, as source and as a bundle. */
import assert from "node:assert/strict";
import { cpSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { deploymentsOf } from "../../waymark/runtimes/deployments.ts";
import { linkBundler, waymark } from "../../waymark/runtimes/packed.ts";
import { command, installPacked } from "../../waymark/test/support/packed.ts";
import { startTollgate } from "../test/tollgate.ts";

const tollgate = await startTollgate({
  config: {
    "shop.yaml": `
domain: shop
descriptors:
  - key: user
    rate_limit: { unit: year, requests_per_unit: 2 }
`,
  },
});

const folder = await installPacked("grpc-wire", "waymark", "tollgate");
linkBundler(folder);
cpSync(fileURLToPath(new URL("limited", import.meta.url)), folder, { recursive: true });
const addresses = { grpc: tollgate.grpc, http: `http://${tollgate.http}`, down: "http://127.0.0.1:1023" };
writeFileSync(join(folder, "addresses.ts"), `export const ADDRESSES = ${JSON.stringify(addresses)};\n`);
await command(folder, "npm", "pkg", "set", "type=module");
await waymark(folder, "build", "--prefix=controllers", "--prefix=grpc");

/** A limit over one of the service's ports: two requests pass, the third one is refused. */
async function checkLimit(ask: (path: string) => Promise<Response>, path: string): Promise<void> {
  const first = await ask(path);
  assert.equal(await first.text(), '"served"');
  assert.equal(first.headers.get("ratelimit-policy"), '"user";q=2;w=31536000');
  assert.match(first.headers.get("ratelimit")!, /^"user";r=1;t=\d+$/);
  await (await ask(path)).body?.cancel();
  const refused = await ask(path);
  assert.equal(refused.status, 429);
  assert.equal(refused.headers.get("content-type"), "application/problem+json");
  assert.match(refused.headers.get("ratelimit")!, /^"user";r=0;t=\d+$/);
  assert.ok(Number(refused.headers.get("retry-after")) > 0);
  const { detail } = (await refused.json()) as { detail: string };
  assert.match(detail, /^the limit of 2 requests per year is exceeded; try again in \d+ s$/);
}

for (const { name, runtime, serve } of deploymentsOf({ folder, app: "app-grpc.ts", workerApp: "app.ts" }))
  test(name, async (context) => {
    const program = await serve();
    const ask = (path: string) =>
      fetch(`${program.url}${path}`, { headers: { user: `${path} ${name}` } }).catch((error: Error) => {
        throw new Error(program.printed(), { cause: error });
      });
    await context.test("over HTTP", () => checkLimit(ask, "/http"));
    if (runtime !== "workerd") await context.test("over gRPC", () => checkLimit(ask, "/grpc"));
    await context.test("the three headers", async () => {
      const { headers } = await ask("/separate");
      assert.deepEqual(
        ["limit", "remaining"].map((each) => headers.get(`ratelimit-${each}`)),
        ["2", "1"],
      );
    });
    await context.test("a service that does not answer", async () => {
      const open = await ask("/open");
      assert.deepEqual([await open.text(), open.headers.get("ratelimit-limit")], ['"served"', null]);
      const closed = await ask("/closed");
      assert.deepEqual([closed.status, closed.headers.get("retry-after")], [503, "1"]);
    });
    await program.stop();
  });

test("waymark build refuses a worker with the address of the gRPC port", async () => {
  const out = join(folder, "refused.mjs");
  await assert.rejects(
    waymark(folder, "build", "--app=app-grpc.ts", "--target=worker", `--out=${out}`),
    ({ stderr }: { stderr: string }) => {
      const reason = `address must be that of Tollgate's HTTP port, such as "http://tollgate.internal:8080", not "${tollgate.grpc}": this runtime has no gRPC`;
      assert.ok(stderr.includes(reason), stderr);
      return true;
    },
  );
});

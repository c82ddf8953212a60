/** The typed client on each runtime, against the same server. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { Application } from "@tollway/waymark";
import { startServer } from "@tollway/waymark/server";
import { build } from "esbuild";
import { clientChecks } from "../test/support/client-checks.ts";
import { temporaryFolder } from "../test/support/packed.ts";
import type { Checked } from "./client.program.ts";
import { runFile, serveWorker } from "./programs.ts";

const folder = temporaryFolder("client");
const names = clientChecks("http://localhost").map(([name]) => name);

const application = new Application({
  controllerPrefix: "controllers",
  directory: fileURLToPath(new URL("../test/fixtures/client", import.meta.url)),
});
const running = await startServer(application, { host: "127.0.0.1", port: 0 });
after(() => running.stop(0));
const url = `http://127.0.0.1:${running.port}`;

async function bundled(name: string): Promise<string> {
  const outfile = join(folder, `${name}.mjs`);
  await build({
    entryPoints: [fileURLToPath(new URL(`${name}.program.ts`, import.meta.url))],
    bundle: true,
    platform: "neutral",
    format: "esm",
    outfile,
    external: ["node:*"],
    logLevel: "silent",
  });
  return outfile;
}

function check(results: readonly Checked[]): void {
  assert.deepEqual(
    results.map(({ name }) => name),
    names,
  );
  const failed = results.filter(({ reason }) => reason !== undefined);
  assert.deepEqual(failed, [], failed.map(({ name, reason }) => `${name}: ${reason}`).join("\n"));
}

for (const runtime of ["node", "bun", "deno"] as const)
  test(runtime, async () => {
    const { child, printed } = runFile(runtime, await bundled("client"), { CLIENT_URL: url });
    await once(child, "close");
    const line = printed()
      .split("\n")
      .find((each) => each.startsWith("["));
    check(JSON.parse(line ?? assert.fail(printed())) as Checked[]);
  });

test("workerd", async () => {
  const worker = await serveWorker(await bundled("client-worker"));
  const answer = await fetch(`${worker.url}/?url=${encodeURIComponent(url)}`);
  assert.equal(answer.status, 200, worker.printed());
  check((await answer.json()) as Checked[]);
  await worker.stop();
});

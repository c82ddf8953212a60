import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { gzipSync } from "node:zlib";
import { Application } from "@tollway/waymark";
import { client } from "@tollway/waymark/client";
import { build } from "esbuild";
import { startServer } from "../src/serve/node/node-server.ts";
import type { Api } from "./fixtures/client/api.d.ts";
import { Endless } from "./fixtures/client/controllers/stream_forms.ts";
import { callChecks, clientChecks } from "./support/client-checks.ts";

const application = new Application({
  controllerPrefix: "controllers",
  directory: fileURLToPath(new URL("fixtures/client", import.meta.url)),
});
let url = "";
let stop = async () => {};

before(async () => {
  await application.ready();
  const running = await startServer(application, { host: "127.0.0.1", port: 0 });
  url = `http://127.0.0.1:${running.port}`;
  stop = () => running.stop();
});
after(() => stop());

/** A server of the test: its address is known once it listens. */
const served = () => client<Api>(url);

for (const [name, run] of callChecks(() => client<Api>("http://localhost", { fetch: application.fetch })))
  test(`${name}, through application.fetch`, run);

// The checks are the same for every address; only their names are needed before the server listens.
for (const [at, [name]] of clientChecks("http://localhost").entries())
  test(name, () => clientChecks(url)[at]![1]());

test("a value of Temporal is its text", async () => {
  const fetch = async ({ url }: Request) => Response.json(url.slice("http://localhost".length));
  const api = client<{ GET(day: Temporal.PlainDate, keywords: { at: Temporal.Duration }): string }>(
    "http://localhost",
    { fetch },
  );
  const at = Temporal.Duration.from("PT1H");
  assert.equal(await api.GET(Temporal.PlainDate.from("2026-01-31"), { at }), "/2026-01-31?at=PT1H");
});

test("the end of a loop over a stream ends the response", async () => {
  const api = served();
  for await (const { n } of await api.stream_forms.endless.GET()) if (n === 2) break;
  await Endless.left.promise;
});

/** Collects garbage. The flag has no effect on code that is compiled already. */
async function collectGarbage(): Promise<void> {
  setFlagsFromString("--expose-gc");
  const gc = runInNewContext("gc") as () => void;
  for (let time = 0; time < 5; time++) {
    await setImmediate();
    gc();
  }
}

for (const retries of [0, 2])
  test(`a signal aborts a stream whose request was garbage-collected, ${retries} retries`, async () => {
    const api = client<Api>(url, { retries });
    const reason = new Error("enough");
    const controller = new AbortController();
    const stream = await api.stream_forms.endless.GET.with({ signal: controller.signal })();
    const items = stream[Symbol.asyncIterator]();
    assert.equal((await items.next()).done, false);
    await collectGarbage();
    controller.abort(reason);
    await assert.rejects(items.next(), reason);
  });

test("an application, its test client and a service binding take the place of the address", async () => {
  class Binding {
    readonly #paths: string[] = [];
    // It needs its receiver.
    fetch(request: Request): Promise<Response> {
      this.#paths.push(new URL(request.url).pathname);
      return application.fetch(request);
    }
    get paths(): readonly string[] {
      return this.#paths;
    }
  }
  const binding = new Binding();
  for (const target of [application, application.test, binding]) {
    const api = client<Api>(target, { headers: { "x-a": "b" } });
    const { title } = await api.books.GET(1);
    assert.equal(typeof title, "string");
  }
  assert.deepEqual(binding.paths, ["/books/1"]);
  assert.throws(() => client<Api>(application, { fetch: application.fetch }), {
    name: "TypeError",
    message: /either/,
  });
});

test("a part of a client can be awaited without a request", async () => {
  const books = await client<Api>("http://localhost", { fetch: application.fetch }).books;
  assert.equal((await books.GET(1)).id, 1);
});

test("the client is at most 4 KB, minified and compressed, without dependencies", async () => {
  const { outputFiles, metafile } = await build({
    entryPoints: [fileURLToPath(new URL("../src/client.ts", import.meta.url))],
    bundle: true,
    minify: true,
    format: "esm",
    platform: "browser",
    target: "es2022",
    metafile: true,
    write: false,
  });
  const size = gzipSync(outputFiles[0]!.contents, { level: 9 }).length;
  assert.ok(size <= 4096, `${size} bytes`);
  for (const file of Object.keys(metafile.inputs)) assert.match(file, /waymark\/src\/client[./]/);
});

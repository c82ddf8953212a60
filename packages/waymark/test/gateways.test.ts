import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { asgiListener } from "../src/serve/node/asgi-listener.ts";
import { wsgiListener } from "../src/serve/node/wsgi-listener.ts";
import { type RunningServer, startServer } from "../src/server.ts";
import { asgiDriver } from "./gateways/asgi-server.ts";
import { wsgiDriver } from "./gateways/wsgi-server.ts";
import { CONTROLLERS, checkFirstMinute } from "./support/first-minute.ts";
import { Project } from "./support/project.ts";
import type { Driver } from "./table/case.ts";
import { socketDriver } from "./table/drivers.ts";
import { runTable } from "./table/run.ts";
import { tableApplication } from "./table/table-application.ts";

const application = tableApplication();

describe("the callables, with every message checked", () => {
  runTable("asgi", () => asgiDriver(application.asgi));
  runTable("wsgi", () => wsgiDriver(application.wsgi));
});

for (const [name, listener] of [
  ["asgi", asgiListener],
  ["wsgi", wsgiListener],
] as const) {
  describe(`waymark --interface=${name}, through a real socket`, () => {
    let running: RunningServer;
    let driver: Driver;
    before(async () => {
      running = await startServer(tableApplication(), { host: "127.0.0.1", port: 0, listener });
      driver = socketDriver(running.port);
    });
    after(() => running.stop());
    runTable(name, () => driver);
  });
}

test("the launcher serves the first minute through each callable", async () => {
  const project = new Project({ "controllers.ts": CONTROLLERS });
  for (const name of ["node", "asgi", "wsgi"]) {
    const serving = await project.start([`--interface=${name}`, "--host=127.0.0.1:0", "--quiet"]);
    await checkFirstMinute(serving.url);
    assert.equal(await serving.stop(), 0);
  }
});

test("the launcher prints the folder of the Python package, and rejects a direct start of the bridge", async () => {
  const project = new Project({});
  const { status, stdout } = await project.run(["python-path"]);
  assert.equal(status, 0);
  assert.ok(existsSync(join(stdout.trim(), "waymark", "asgi.py")), stdout);
  const refused = await project.run(["bridge"]);
  assert.equal(refused.status, 2);
  assert.match(refused.stderr, /^waymark: only the Python package can start "waymark bridge"/);
});

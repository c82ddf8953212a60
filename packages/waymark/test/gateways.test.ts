import { after, before, describe } from "node:test";
import { asgiListener } from "../src/serve/asgi/server.ts";
import { type RunningServer, startServer } from "../src/serve/server.ts";
import { wsgiListener } from "../src/serve/wsgi/server.ts";
import { asgiDriver } from "./gateways/asgi-server.ts";
import { wsgiDriver } from "./gateways/wsgi-server.ts";
import { tableApplication } from "./table/application.ts";
import type { Driver } from "./table/case.ts";
import { socketDriver } from "./table/drivers.ts";
import { runTable } from "./table/run.ts";

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

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type RunningServer, startServer } from "../src/server.ts";
import { type Driver, requestOf } from "./table/case.ts";
import { cases } from "./table/cases.ts";
import { comparable } from "./table/check.ts";
import { fetchDriver, socketDriver } from "./table/drivers.ts";
import { runTable, sharedRows } from "./table/run.ts";
import { tableApplication } from "./table/table-application.ts";

const application = tableApplication();
let running: RunningServer;
let viaSocket: Driver;
const viaFetch = fetchDriver(application.fetch);

before(async () => {
  running = await startServer(application, { host: "127.0.0.1", port: 0 });
  viaSocket = socketDriver(running.port);
});
after(() => running.stop());

test("the table has at least 150 rows, each with a unique name and a reason for every exception", () => {
  assert.ok(cases.length >= 150, `${cases.length} rows`);
  assert.equal(new Set(cases.map(({ name }) => name)).size, cases.length);
  for (const { except = {} } of cases)
    for (const reason of Object.values(except)) assert.ok(reason.length > 10);
});

runTable("fetch", () => viaFetch);
runTable("node", () => viaSocket);

test("fetch and a socket give the same answers", async () => {
  for (const row of sharedRows("fetch", "node")) {
    const request = requestOf(row);
    assert.deepEqual(comparable(await viaFetch(request)), comparable(await viaSocket(request)), row.name);
  }
});

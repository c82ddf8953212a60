import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { EXCEPTIONS } from "./python/exceptions.ts";
import { COMMANDS, PythonServer, type ServerName } from "./python/server.ts";
import { type Driver, requestOf } from "./table/case.ts";
import { cases } from "./table/cases.ts";
import { checkAnswer } from "./table/check.ts";
import { socketDriver } from "./table/drivers.ts";

const FOLDER = join(import.meta.dirname, "fixtures", "python");

for (const name of Object.keys(COMMANDS) as ServerName[]) {
  describe(`the table under ${name}`, () => {
    let server: PythonServer;
    let driver: Driver;
    before(async () => {
      server = await new PythonServer(COMMANDS[name], FOLDER, { WAYMARK_APP: "table.ts" }).ready();
      driver = socketDriver(server.port);
    });
    after(() => server.stop());
    for (const row of cases) {
      if (EXCEPTIONS[name][row.name] !== undefined) continue;
      test(row.name, async () => checkAnswer(row, await driver(requestOf(row))));
    }
  });
}

test("every exception is a row of the table", () => {
  const names = new Set(cases.map(({ name }) => name));
  for (const exceptions of Object.values(EXCEPTIONS))
    for (const name of Object.keys(exceptions)) assert.ok(names.has(name), name);
});

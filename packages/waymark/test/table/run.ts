import { test } from "node:test";
import type { Case, Driver, InterfaceName } from "./case.ts";
import { requestOf } from "./case.ts";
import { cases } from "./cases.ts";
import { checkAnswer } from "./check.ts";

/** Runs every row that an interface can carry. Calls `driver` with the first row. */
export function runTable(name: InterfaceName, driver: () => Driver): void {
  for (const row of cases) {
    if (row.except?.[name] !== undefined) continue;
    test(`${name}: ${row.name}`, async () => {
      checkAnswer(row, await driver()(requestOf(row)));
    });
  }
}

/** The rows that both interfaces can carry. */
export function sharedRows(one: InterfaceName, other: InterfaceName): Case[] {
  return cases.filter(({ except }) => except?.[one] === undefined && except?.[other] === undefined);
}

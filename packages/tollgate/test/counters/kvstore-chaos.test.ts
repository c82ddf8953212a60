/** A short form of `npm run chaos`: each fault, with the guarantees of its store. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { scaled } from "../../../../tools/time-scale.ts";
import { faults, run } from "../../chaos/scenario.ts";
import { scenarios } from "../../chaos/scenarios.ts";

describe("chaos", () => {
  for (const scenario of scenarios)
    test(`${scenario.store}: ${scenario.fault}`, async () => {
      const result = await run(scenario, { outageMs: scaled(400), deadline: scaled(300) });
      assert.deepEqual(faults(result), []);
    });
});

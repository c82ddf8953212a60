/** A short form of `npm run chaos`: each fault, with the guarantees of its store. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { scaled } from "../../../../tools/time-scale.ts";
import { faults, run } from "../../chaos/scenario.ts";
import { scenarios } from "../../chaos/scenarios.ts";

describe("chaos", () => {
  for (const scenario of scenarios)
    test(`${scenario.store}: ${scenario.fault}`, async () => {
      // A thousand calls during the outage, however slow the machine is.
      const times = { outageMs: scaled(400), deadline: scaled(300), pause: scaled(8) };
      const result = await run(scenario, times);
      assert.ok(result.calls > 1000);
      assert.deepEqual(faults(result), []);
    });
});

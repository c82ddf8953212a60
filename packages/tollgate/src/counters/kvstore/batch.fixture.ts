import assert from "node:assert/strict";
import { Batch } from "./batch.ts";
import { Expiries } from "./expiries.ts";
import type { FreshKey } from "./op.ts";
import { CommandWriter } from "./resp/writer.ts";

/**
 * Makes a batch whose keys live for a minute.
 * @param onDone called when the connection is free again
 * @param refused answers refusals of a server. Default: fails the test
 * @returns the batch, and the keys that it hands over because they need an expiry
 */
export function makeBatch(onDone = () => {}, refused: () => boolean = () => assert.fail()) {
  const fresh: FreshKey[] = [];
  const context = {
    expiries: new Expiries(),
    lifetime: () => 60,
    now: () => 0,
    refused,
    fresh: (key: FreshKey) => fresh.push(key),
  };
  return { batch: new Batch(context, new CommandWriter(), onDone), fresh };
}

/** What must hold for all bytes that a peer can send. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { conversations, cuttings, mutatedConversations, rubbish } from "./conversations.ts";
import { play } from "./play.ts";

interface Property {
  readonly name: string;
  /** How many times the short run, among the tests, tries it. */
  readonly shortRuns: number;
  readonly check: (options: { numRuns: number; seed?: number }) => void;
}

export const properties: readonly Property[] = [
  {
    name: "a legal conversation gets the same answers however its bytes are cut",
    shortRuns: 300,
    check: (options) =>
      fc.assert(
        fc.property(conversations, cuttings, (bytes, cuts) => {
          const whole = play(bytes, []);
          assert.deepEqual(whole.faults, []);
          assert.deepEqual(whole.goaways, []);
          assert.ok(
            Object.values(whole.streams).every((text) => text.includes(".")),
            "a call was not answered",
          );
          assert.deepEqual(play(bytes, cuts), whole);
        }),
        options,
      ),
  },
  {
    name: "a conversation with changed bytes never throws, hangs or writes half a frame",
    shortRuns: 1200,
    check: (options) =>
      fc.assert(
        fc.property(mutatedConversations, cuttings, (bytes, cuts) => {
          const outcome = play(bytes, cuts);
          assert.deepEqual(outcome.faults, []);
          assert.ok(outcome.goaways.length <= 1);
        }),
        options,
      ),
  },
  {
    name: "arbitrary bytes and frames never throw or hang",
    shortRuns: 2000,
    check: (options) =>
      fc.assert(
        fc.property(rubbish, cuttings, (bytes, cuts) => {
          const outcome = play(bytes, cuts);
          assert.deepEqual(outcome.faults, []);
          assert.ok(outcome.goaways.length <= 1);
        }),
        options,
      ),
  },
];

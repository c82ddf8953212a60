/** Properties for all bytes that a peer can send. */
import assert from "node:assert/strict";
import fc from "fast-check";
import {
  conversations,
  cuttings,
  laterConversations,
  mutatedConversations,
  mutatedLaterConversations,
  rubbish,
  windows,
  withTightWindows,
} from "./conversations.ts";
import { type Manner, type Outcome, play, playLater } from "./play.ts";

interface Property {
  readonly name: string;
  /** Number of attempts in the short run, which is part of the tests. */
  readonly shortRuns: number;
  readonly check: (options: { numRuns: number; seed?: number }) => void | Promise<void>;
}

/** Expects responses only. */
function assertAnswered(outcome: Outcome): void {
  assert.deepEqual(outcome.faults, []);
  assert.deepEqual(outcome.goaways, []);
  assert.ok(
    Object.values(outcome.streams).every((text) => text.includes(".")),
    "a call was not answered",
  );
}

const few = fc.array(fc.nat(60_000), { maxLength: 20 });
const manners: fc.Arbitrary<Manner> = fc.record({
  turns: fc.nat(3),
  slow: fc.boolean(),
  grant: fc.oneof(fc.integer({ min: 300, max: 3000 }), fc.integer({ min: 10_000, max: 60_000 })),
});

export const properties: readonly Property[] = [
  {
    name: "a legal conversation gets the same answers however its bytes are cut",
    shortRuns: 300,
    check: (options) =>
      fc.assert(
        fc.property(conversations, cuttings, (bytes, cuts) => {
          const whole = play(bytes, []);
          assertAnswered(whole);
          assert.deepEqual(play(bytes, cuts), whole);
        }),
        options,
      ),
  },
  {
    name: "answers given later, to slow readers with tight windows, are the same answers",
    shortRuns: 120,
    check: (options) =>
      fc.assert(
        fc.asyncProperty(laterConversations, few, windows, manners, async (bytes, cuts, window, manner) => {
          const wide = await playLater(bytes, [], { turns: 1, slow: false, grant: 1 });
          assertAnswered(wide);
          const tight = await playLater(withTightWindows(bytes, window), cuts, manner);
          assert.deepEqual(tight, wide);
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
    name: "nor does one with tight windows whose calls are answered later, and nothing stays held",
    shortRuns: 200,
    check: (options) =>
      fc.assert(
        fc.asyncProperty(mutatedLaterConversations, few, manners, async (bytes, cuts, { turns, slow }) => {
          const outcome = await playLater(bytes, cuts, { turns, slow, grant: 0 });
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

import assert from "node:assert/strict";
import { test } from "node:test";
import { makeAcquire } from "../../../test/counters/acquire-conformance.ts";
import { HoldBack } from "../store.ts";
import { Ticket } from "../transport/ticket.ts";
import { AcquireCall } from "./acquire-call.ts";
import { AcquireStep } from "./acquire-step.ts";

const NOW = 1_783_296_005_250;

function wordsOf(steps: readonly (readonly (readonly [stems: string, hits: number])[])[]): number {
  const call = new AcquireCall();
  for (const groups of steps) {
    const request = makeAcquire(
      groups.map(([stems, hits]) => ({
        limits: [...stems].map((stem) => ({ stem, algorithm: "token_bucket" as const })),
        hits,
      })),
      NOW,
    );
    const ticket = new Ticket([], HoldBack.NEVER, Number.POSITIVE_INFINITY, 0, undefined, {
      answered: () => {},
      failed: assert.fail,
    });
    assert.ok(call.add(new AcquireStep(request.groups, HoldBack.NEVER, NOW, 0), ticket));
  }
  return call.words;
}

const equal = (step: readonly (readonly [string, number])[], times: number) =>
  Array.from({ length: times }, () => step);

for (const step of [
  [["a", 1]],
  [["ab", 1]],
  [["abc", -2]],
  [
    ["a", 1],
    ["bc", 1],
  ],
] as const)
  test(`a thousand equal steps take as many words as one: ${JSON.stringify(step)}`, () => {
    assert.equal(wordsOf(equal(step, 1000)), wordsOf([step]));
  });

for (const [first, other] of [
  [
    ["ab", 1],
    ["ab", 2],
  ],
  [
    ["ab", 1],
    ["a", 1],
  ],
  [
    ["ab", 1],
    ["abc", 1],
  ],
  [
    ["abc", 1],
    ["bc", 1],
  ],
  [
    ["ab", 1],
    ["bc", 1],
  ],
  [
    ["a", 1],
    ["a", 0],
  ],
] as const)
  test(`the order of other hits is kept: ${first} between ${other}`, () => {
    assert.ok(wordsOf([[first], [other], [first]]) > wordsOf([[first], [first], [other]]));
  });

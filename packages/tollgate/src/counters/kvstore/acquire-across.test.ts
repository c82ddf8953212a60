import assert from "node:assert/strict";
import { test } from "node:test";
import { fixedWindow } from "../algorithms/fixed-window.ts";
import { type AcquireGroup, type AcquireRequest, HoldBack, Outcome, Refuses } from "../store.ts";
import { acquireAcross } from "./acquire-across.ts";

test("the second step decides at the request's instant, with the rest of its deadline", async () => {
  const asked: Pick<AcquireRequest, "now" | "deadline">[] = [];
  /** A part that takes time, and then holds or counts its groups. */
  const part = (stem: string) => ({
    groups: [groupOf(stem)],
    acquire({ now, deadline, holdBack, groups }: AcquireRequest) {
      asked.push({ now, deadline });
      const end = performance.now() + 3;
      while (performance.now() < end);
      for (const group of groups)
        group.outcome = holdBack === HoldBack.ALWAYS ? Outcome.HELD : Outcome.COUNTED;
    },
  });
  const parts = [part("a:"), part("b:")];
  const groups = parts.flatMap(({ groups }) => groups);
  await acquireAcross({ groups, holdBack: HoldBack.WHEN_REFUSED, now: 59_999, deadline: 1_000_000 }, parts);
  assert.equal(asked.length, 4);
  for (const { now } of asked) assert.equal(now, 59_999);
  assert.equal(asked[0]!.deadline, 1_000_000);
  assert.ok(asked[2]!.deadline <= 1_000_000 - 6, `${asked[2]!.deadline}`);
});

function groupOf(stem: string): AcquireGroup {
  return {
    hits: 1,
    refuses: Refuses.ALWAYS,
    outcome: Outcome.COUNTED,
    accepted: true,
    limits: [
      {
        stem,
        algorithm: fixedWindow,
        windowStart: 0,
        windowSize: 60,
        limit: 1,
        burst: 1,
        accepted: true,
        used: 0,
        remaining: 0,
        reset: 1,
      },
    ],
  };
}

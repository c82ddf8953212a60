import assert from "node:assert/strict";
import { test } from "node:test";
import { matchesIn } from "./forbidden-words.ts";

const forbidden: readonly (readonly [text: string, found: string])[] = [
  ["the doors open", "doors"],
  ["class DoorOptions {}", "Door"],
  ['import { rooms } from "./a.ts"', "rooms"],
  ["function judge() {}", "judge"],
  ["a schema judges the value", "judges"],
  ["new Halves()", "Halves"],
  ["const calm = 11", "calm"],
  ["function expectCalm() {}", "Calm"],
  ["beginAll(work)", "beginAll"],
  ["class Lane {}", "Lane"],
  ["interface Surroundings {}", "Surroundings"],
  ["type Way = 1", "Way"],
  ["this.#hurry.abort()", "hurry"],
  ["components.voice", "voice"],
  ["const givings = []", "givings"],
  ["by giving back hits", "giving back"],
  ["hits that were given back", "given back"],
  ["Whoever calls it", "Whoever"],
  ["It is told of each frame", "told of"],
  ["a unit that is none", "is none"],
  ["waits for ever", "for ever"],
  ["what asks the service is a client", "what asks"],
  ["What stands in the manual", "stands"],
  ["`*` stands for any text", "stands"],
  ["while the store is sick", "sick"],
  ["nobody in particular", "nobody in particular"],
  ["/** What the server needs of an application. */", "What"],
  [" * Why a class is not routed. Undefined", "Why"],
  ["  // Where the fault is.", "Where"],
];
for (const [text, found] of forbidden)
  test(`"${text}" contains a forbidden word`, () => {
    assert.deepEqual(
      matchesIn("a.ts", `first line\n${text}`).map((match) => [match.line, match.text]),
      [[2, found]],
    );
  });

const allowed = [
  "ENHANCE_YOUR_CALM",
  "const { enhanceYourCalm } = errors",
  "a standard outdoor understanding",
  "if there is none, the default applies",
  "if value is None:",
  "The same way as before. By the Way of names",
  "given the answer",
  "forever",
  "/** What if the clock steps back? */",
  "/** The fault. What it means is unknown. */",
  "/** Whatever follows. */",
];
for (const text of allowed) test(`"${text}" is allowed`, () => assert.deepEqual(matchesIn("a.ts", text), []));

test("pages may begin a line with a question word", () => {
  assert.deepEqual(matchesIn("a.md", "* What the server needs"), []);
});

test("a forbidden word in a path is reported as line 0", () => {
  assert.deepEqual(
    matchesIn("packages/x/doors/a.ts", "").map(({ line, text }) => [line, text]),
    [[0, "doors"]],
  );
});

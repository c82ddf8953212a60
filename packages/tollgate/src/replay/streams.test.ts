/** Properties of the parts that a log passes through. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { FrequentKeys } from "./frequent-keys.ts";
import { LineSplitter } from "./line-splitter.ts";
import { ReorderBuffer } from "./reorder-buffer.ts";
import { addTo, newSpan, type Span, Timeline } from "./timeline.ts";

describe("lines", () => {
  test("are the same for any chunks of the bytes, and a line that is too long is skipped", () => {
    const line = fc.string({ unit: fc.constantFrom("a", "ä", "\u{1f600}", "\r"), maxLength: 12 });
    fc.assert(
      fc.property(
        fc.array(line),
        fc.boolean(),
        fc.array(fc.nat(40)),
        fc.nat(30),
        (lines, isEnded, cuts, longest) => {
          const bytes = Buffer.from(lines.join("\n") + (isEnded ? "\n" : ""));
          const found: (string | undefined)[] = [];
          const splitter = new LineSplitter(
            longest,
            (text, size) => {
              assert.equal(size, Buffer.byteLength(text));
              found.push(text);
            },
            () => found.push(undefined),
          );
          let at = 0;
          for (const cut of cuts) {
            splitter.push(bytes.subarray(at, at + cut));
            at += Math.min(cut, bytes.length - at);
          }
          splitter.push(bytes.subarray(at));
          splitter.end();
          const all = bytes.toString().split("\n");
          // The text after the last line end is a line only if it is not empty.
          if (all.at(-1) === "") all.pop();
          const expected = all.map((text) => (Buffer.byteLength(text) > longest ? undefined : text));
          assert.deepEqual(found, expected);
        },
      ),
    );
  });
});

describe("the order of lines", () => {
  test("is the order of time if no line is later than half of the buffer", () => {
    fc.assert(
      fc.property(
        fc.array(fc.nat(9), { maxLength: 80 }),
        fc.integer({ min: 2, max: 20 }),
        (jumps, capacity) => {
          let time = 0;
          const ordered = jumps.map((jump) => {
            time += jump;
            return { time };
          });
          // Reverses groups: the first item of each is as late as a group allows.
          const group = Math.floor(capacity / 2);
          const mixed = ordered.map((_, index) => {
            const start = index - (index % group);
            return ordered[start + Math.min(group, ordered.length - start) - 1 - (index - start)]!;
          });
          const out: { time: number }[] = [];
          const buffer = new ReorderBuffer<{ time: number }>(capacity, 1e9, (item) => out.push(item));
          for (const item of mixed) buffer.add(item, 1);
          buffer.end();
          assert.deepEqual(
            out.map((item) => item.time),
            ordered.map((item) => item.time),
          );
          assert.equal(buffer.late, 0);
        },
      ),
    );
  });

  test("keeps every item, and counts those that come too late", () => {
    fc.assert(
      fc.property(fc.array(fc.nat(50)), fc.integer({ min: 1, max: 8 }), (times, capacity) => {
        const out: number[] = [];
        const buffer = new ReorderBuffer<{ time: number }>(capacity, 1e9, ({ time }) => out.push(time));
        for (const time of times) buffer.add({ time }, 1);
        buffer.end();
        assert.deepEqual(
          out.toSorted((a, b) => a - b),
          times.toSorted((a, b) => a - b),
        );
        const late = out.filter((time, index) => time < Math.max(...out.slice(0, index)));
        assert.equal(buffer.late, late.length);
      }),
    );
  });

  test("holds back a bounded number of bytes, also of items that are far ahead", () => {
    let held = 0;
    const ahead = new ReorderBuffer<{ time: number; bytes: number }>(1000, 100, ({ bytes }) => {
      held -= bytes;
    });
    for (let time = 0; time < 500; time++) {
      const bytes = time % 3 === 0 ? 40 : 1;
      held += bytes;
      ahead.add({ time: time % 3 === 0 ? 1e9 + time : time, bytes }, bytes);
      assert.ok(held <= 140, `${held} bytes`);
    }
  });

  test("holds back a bounded number of bytes", () => {
    let held = 0;
    const buffer = new ReorderBuffer<{ time: number }>(1000, 100, () => held--);
    for (let time = 0; time < 500; time++) {
      held++;
      buffer.add({ time }, 10);
      assert.ok(held <= 11, `${held} items of 10 bytes`);
    }
  });
});

test("the most frequent keys: a number is never too large, and at most `error` too small", () => {
  const hit = fc.record({ key: fc.nat(30), refused: fc.nat(3), pass: fc.nat(3) });
  fc.assert(
    fc.property(fc.array(hit, { maxLength: 300 }), fc.integer({ min: 1, max: 12 }), (hits, capacity) => {
      const keys = new FrequentKeys(capacity);
      const exact = new Map<string, number>();
      for (const { key, refused, pass } of hits) {
        keys.add(String(key), refused, pass);
        exact.set(String(key), (exact.get(String(key)) ?? 0) + refused + pass);
      }
      const found = keys.top(1000);
      assert.ok(found.length < 2 * capacity + 1);
      const sums = new Map(found.map((one) => [one.key, one.newlyRefused + one.newlyPass]));
      for (const [key, sum] of exact) {
        const own = sums.get(key) ?? 0;
        assert.ok(
          own <= sum + 1e-9 && own >= sum - keys.error - 1e-9,
          `${key}: ${own} of ${sum}, error ${keys.error}`,
        );
      }
      if (exact.size < 2 * capacity) assert.equal(keys.error, 0);
    }),
  );
});

test("the timeline: spans of equal length that keep all sums, bounded in number", () => {
  const decision = fc.record({
    after: fc.nat(20_000),
    weight: fc.nat(5),
    was: fc.boolean(),
    is: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(decision, { minLength: 1, maxLength: 200 }), (decisions) => {
      const timeline = new Timeline(8);
      const total = newSpan();
      let time = 1_800_000_000_123;
      const begin = time + decisions[0]!.after;
      for (const { after, weight, was, is } of decisions) {
        time += after;
        addTo(timeline.at(time), weight, was, is);
        addTo(total, weight, was, is);
      }
      assert.ok(timeline.spans.length <= 8);
      assert.equal(timeline.start, Math.floor(begin / timeline.width) * timeline.width);
      assert.ok(timeline.start + timeline.spans.length * timeline.width > time);
      const sum = newSpan();
      for (const span of timeline.spans)
        for (const name of Object.keys(sum) as (keyof Span)[]) sum[name] += span[name];
      assert.deepEqual(sum, total);
    }),
  );
});

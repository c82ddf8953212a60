import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { boundedRun, rotated } from "./bounded-run.ts";

const files = ["a", "b", "c", "d", "e"];

/** Runs groups of two files, each of which takes 10 ms. `statuses` are those of the runs, in order. */
async function simulate(statuses: readonly number[], options: { budgetMs?: number; retry?: boolean } = {}) {
  const groups: string[] = [];
  let time = 0;
  const result = await boundedRun(files, {
    run: async (group) => {
      time += 10;
      return statuses[groups.push(group.join("")) - 1] ?? 0;
    },
    now: () => time,
    groupSize: 2,
    budgetMs: Number.POSITIVE_INFINITY,
    retry: false,
    ...options,
  });
  return { groups: groups.join(" "), ...result };
}

describe("a bounded run", () => {
  it("runs all files in groups", async () => {
    assert.deepEqual(await simulate([]), { groups: "ab cd e", status: 0, repeated: [], left: [] });
  });

  it("starts no group after its time, but always the first one", async () => {
    assert.deepEqual(await simulate([], { budgetMs: 20 }), {
      groups: "ab cd",
      status: 0,
      repeated: [],
      left: ["e"],
    });
    assert.equal((await simulate([], { budgetMs: 0 })).groups, "ab");
  });

  it("ends at the first failure", async () => {
    const expected = { groups: "ab cd", status: 7, repeated: [], left: ["e"] };
    assert.deepEqual(await simulate([0, 7]), expected);
  });

  it("repeats a group that failed once, if asked to, and ends when it fails again", async () => {
    assert.deepEqual(await simulate([0, 7, 0], { retry: true }), {
      groups: "ab cd cd e",
      status: 0,
      repeated: [["c", "d"]],
      left: [],
    });
    assert.deepEqual(await simulate([0, 7, 1], { retry: true }), {
      groups: "ab cd cd",
      status: 1,
      repeated: [],
      left: ["e"],
    });
  });
});

describe("the rotation of a list", () => {
  it("keeps all files, and starts with each one on some day", () => {
    const starts = new Set<string>();
    for (let day = 0; day < 30; day++) {
      const list = rotated(files, new Date(day * 86_400_000));
      assert.deepEqual([...list].sort(), files);
      starts.add(list[0]!);
    }
    assert.deepEqual([...starts].sort(), files);
    assert.deepEqual(rotated([], new Date()), []);
  });
});

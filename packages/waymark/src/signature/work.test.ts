/** Counts how often the parts of a body are read. The tests use no clock. */
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import fc from "fast-check";
import { BindFaults } from "./bind/bind-faults.ts";
import type { Binder } from "./bind/binder.ts";
import { binderOf, faultsOf } from "./support.fixture.ts";

type Json = null | boolean | number | string | Json[] | { [name: string]: Json };

/** Counts the objects and lists of a document, and how often a converter reads one of them. */
class Counted {
  nodes = 0;
  visits = 0;

  wrap(value: Json): unknown {
    if (typeof value !== "object" || value === null) return value;
    this.nodes++;
    if (Array.isArray(value)) {
      return new Proxy(
        value.map((item) => this.wrap(item)),
        {
          get: (target, key) => {
            if (key === "0") this.visits++;
            return Reflect.get(target, key);
          },
        },
      );
    }
    const own = Object.fromEntries(Object.entries(value).map(([key, item]) => [key, this.wrap(item)]));
    return new Proxy(own, {
      ownKeys: (target) => {
        this.visits++;
        return Reflect.ownKeys(target);
      },
    });
  }
}

function bind(binder: Binder, it: unknown) {
  return binder.bind({ segments: [], query: "", body: { kind: "json", value: { it } } });
}

function chain(depth: number, link: (inner: Json) => Json, end: Json): Json {
  let it = end;
  for (let level = 0; level < depth; level++) it = link(it);
  return it;
}

const TWIN =
  "type Twin = { next?: Twin; a: string } | { next?: Twin; b: string } | { next?: Twin; c: string };";
const TREE = "type Tree = { kids?: Tree[]; a: string } | { kids?: Tree[]; b: string };";
const PAIR =
  "type Pair = { l?: Pair; r?: Pair; a: 1 } | { l?: Pair; r?: Pair; b: 1 } | { l?: Pair; r?: Pair; c: 1 };";
const MUTUAL =
  "interface Node { u?: U; name: string } type U = { n: Node; a: 1 } | { n: Node; b: 1 } | { n: Node; c: 1 };";
const BOXED =
  "type Box = Record<string, A> | Record<string, B>; interface A { it?: Box; a: 1 } interface B { it?: Box; b: 1 }";
const LIST = "type Deep = [Deep, 'a'] | [Deep, 'b'] | [Deep, 'c'] | { end: 1 };";
const JSON_TYPE = "type Any = Any[] | { [name: string]: Any } | Record<string, Any[]> | number;";

/** Types that do not contain themselves. Each contains the next one in both of its members. */
const NESTED = Array.from({ length: 10 }, (_, level) => {
  const next = level === 9 ? "number" : `L${level + 1}`;
  return `type L${level} = { n: ${next}; a: 1 } | { n: ${next}; b: 1 };`;
}).join(" ");

/** name, declarations, type, number of members of its widest union, a document by size */
const SHAPES: readonly (readonly [string, string, string, number, (size: number) => Json])[] = [
  [
    "a chain that fits at its end",
    TWIN,
    "Twin",
    3,
    (n) => chain(n, (next) => ({ next, c: "x" }), { c: "x" }),
  ],
  ["a chain that fits nowhere", TWIN, "Twin", 3, (n) => chain(n, (next) => ({ next, c: "x" }), { z: 1 })],
  [
    "a chain of two faults a level",
    TWIN,
    "Twin",
    3,
    (n) => chain(n, (next) => ({ next, z: 1, y: 1 }), { z: 1 }),
  ],
  [
    "a list of chains",
    TWIN,
    "Twin[]",
    3,
    (n) => Array.from({ length: n }, () => chain(20, (next) => ({ next, c: "x" }), { z: 1 })),
  ],
  [
    "a tree that fits",
    TREE,
    "Tree",
    2,
    (n) => chain(n, (kid) => ({ kids: [kid, { b: "x" }], b: "x" }), { b: "x" }),
  ],
  [
    "a tree that does not",
    TREE,
    "Tree",
    2,
    (n) => chain(n, (kid) => ({ kids: [{ b: "x" }, kid], b: "x" }), { z: 1 }),
  ],
  ["two children a level", PAIR, "Pair", 3, (n) => chain(n, (l) => ({ l, r: { c: 1 }, c: 1 }), { c: 2 })],
  [
    "through an interface",
    MUTUAL,
    "U",
    3,
    (n) => chain(n, (u) => ({ n: { u, name: "x" }, c: 1 }), { n: { name: "x" }, c: 1 }),
  ],
  [
    "through an interface, with a fault",
    MUTUAL,
    "U",
    3,
    (n) => chain(n, (u) => ({ n: { u, name: "x" }, c: 1 }), { n: { name: 1 }, c: 1 }),
  ],
  ["through records", BOXED, "Box", 2, (n) => chain(n, (it) => ({ x: { it, b: 1 } }), { x: { b: 1 } })],
  ["through tuples", LIST, "Deep", 4, (n) => chain(n, (deep) => [deep, "c"], { end: 1 })],
  ["through tuples, with a fault", LIST, "Deep", 4, (n) => chain(n, (deep) => [deep, "c"], { end: 2 })],
  [
    "through types that do not contain themselves",
    NESTED,
    "L0",
    2,
    (n) => chain(Math.min(n, 10), (inner) => ({ n: inner, b: 1 }), 1),
  ],
  [
    "through a list of such types",
    NESTED,
    "L0[]",
    2,
    (n) => Array.from({ length: n }, () => chain(10, (inner) => ({ n: inner, b: 1 }), "x")),
  ],
  ["anything", JSON_TYPE, "Any", 4, (n) => chain(n, (it) => ({ a: it, b: [it === null ? 1 : "x"] }), null)],
];

suite("the number of conversions grows with the size of the body", () => {
  for (const [name, declarations, type, members, make] of SHAPES) {
    test(name, () => {
      const binder = binderOf(`POST({ it }: { it: ${type} })`, declarations);
      for (const size of [1, 5, 20, 60, 90, 150]) {
        const counted = new Counted();
        bind(binder, counted.wrap(make(size)));
        const most = members * members * counted.nodes + members;
        assert.ok(counted.visits <= most, `${size}: ${counted.visits} visits of ${counted.nodes} objects`);
      }
    });
  }

  const leaf = fc.constantFrom<Json>(null, 1, 2, "x", {});
  const names = fc.constantFrom("next", "kids", "l", "r", "n", "u", "it", "a", "b", "c", "name", "end");
  const document = fc.letrec<{ it: Json }>((tie) => ({
    it: fc.oneof(
      { maxDepth: 12, depthSize: "max" },
      leaf,
      fc.array(tie("it"), { maxLength: 3 }),
      fc.dictionary(names, tie("it"), { maxKeys: 4, noNullPrototype: true }),
    ),
  })).it;
  const binders = SHAPES.map(([, declarations, type]) =>
    binderOf(`POST({ it }: { it: ${type} })`, declarations),
  );
  test("any document has at most 16 visits for each of its nodes", () => {
    fc.assert(
      fc.property(document, fc.nat(binders.length - 1), (it, which) => {
        const counted = new Counted();
        bind(binders[which]!, counted.wrap(it));
        assert.ok(counted.visits <= 16 * counted.nodes + 4, `${counted.visits} visits of ${counted.nodes}`);
      }),
      { numRuns: 500 },
    );
  });
});

suite("repeated conversions have the same result", () => {
  test("a long chain is accepted and converted", () => {
    const declarations =
      "type Twin = { next?: Twin; at: Date; a: 1 } | { next?: Twin; at: Date; b: 1 } | { next?: Twin; at: Date; c: 1 };";
    const binder = binderOf("POST({ it }: { it: Twin })", declarations);
    const it = chain(150, (next) => ({ next, at: "2026-01-01", c: 1 }), { at: "2026-01-01", c: 1 });
    const result = bind(binder, it);
    assert.ok(Array.isArray(result));
    let [{ it: own }] = result as [{ it: { next: object; at: Date } | undefined }];
    let depth = 0;
    for (; own; own = own.next as typeof own) {
      assert.ok(own.at instanceof Date);
      depth++;
    }
    assert.equal(depth, 151);
  });
  test("a fault keeps its place", () => {
    const binder = binderOf("POST({ it }: { it: Twin[] })", TWIN);
    const it = [{ c: "x" }, chain(3, (next) => ({ next, c: "x" }), { c: 1 })];
    assert.deepEqual(faultsOf(bind(binder, it)), [
      "400 body.it[1].next.next.next.c must be a string, got a number",
    ]);
  });
  test("requests are independent", () => {
    const binder = binderOf("POST({ it }: { it: Twin })", TWIN);
    const it: { next: Json; c: string } = { next: { c: 1 }, c: "x" };
    assert.ok(bind(binder, it) instanceof BindFaults);
    it.next = { c: "x" };
    assert.ok(Array.isArray(bind(binder, it)));
    (it.next as { c: Json }).c = 1;
    assert.ok(bind(binder, it) instanceof BindFaults);
  });
});

import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { compileProjection } from "./project/projection.ts";
import { signatureOf } from "./support.fixture.ts";

/** The part of a value that a method with this return type sends. */
function sent(returns: string, value: unknown, declarations = ""): unknown {
  const project = compileProjection(
    signatureOf(`${declarations}\nclass X { GET(): ${returns} { return null!; } }`),
  );
  return project === undefined ? value : project(value);
}

const DECLARATIONS = `
interface Book { id: number; title?: string }
interface Tree { name: string; children: Tree[] }
type Shape = { kind: "circle"; radius: number } | { kind: "square"; side: number };
type Loose = { a: number } | { b: number };
`;
const at = new Date(0);

const ROWS: readonly (readonly [returns: string, value: unknown, expected: unknown])[] = [
  ["Book", { id: 1, secret: 2 }, { id: 1 }],
  ["Book", { secret: 2, title: "t", id: 1, more: 3 }, { title: "t", id: 1 }],
  ["Promise<Book>", { id: 1, secret: 2 }, { id: 1 }],
  ["Book[]", [{ id: 1, secret: 2 }, { id: 2 }], [{ id: 1 }, { id: 2 }]],
  ["readonly Book[]", [{ id: 1, secret: 2 }], [{ id: 1 }]],
  ["{ list: { id: number }[] }", { list: [{ id: 1, secret: 2 }] }, { list: [{ id: 1 }] }],
  [
    "[Book, ...{ a: 1 }[]]",
    [
      { id: 1, b: 2 },
      { a: 1, b: 2 },
    ],
    [{ id: 1 }, { a: 1 }],
  ],
  ["Record<string, Book>", { x: { id: 1, secret: 2 } }, { x: { id: 1 } }],
  ["{ [name: string]: number }", { x: 1, y: 2 }, { x: 1, y: 2 }],
  [
    "Tree",
    { name: "a", x: 1, children: [{ name: "b", x: 2, children: [] }] },
    { name: "a", children: [{ name: "b", children: [] }] },
  ],
  ["Book & { extra: number }", { id: 1, extra: 2, secret: 3 }, { id: 1, extra: 2 }],
  ["Pick<Book, 'id'>", { id: 1, title: "t" }, { id: 1 }],
  ["Book | null", { id: 1, secret: 2 }, { id: 1 }],
  ["Book | null", null, null],
  ["Book | undefined", undefined, undefined],
  ["Book | string", "text", "text"],
  // A discriminant selects its member, even if another property is wrong.
  ["Shape", { kind: "circle", radius: 1, side: 2 }, { kind: "circle", radius: 1 }],
  ["Shape", { kind: "square", radius: 1, side: 2 }, { kind: "square", side: 2 }],
  ["Shape", { kind: "square", side: "wrong", secret: 1 }, { kind: "square", side: "wrong" }],
  ["Loose", { a: 1, secret: 2 }, { a: 1 }],
  ["Loose", { a: 1, b: 2, secret: 3 }, { a: 1, b: 2 }],
  ["Loose[]", [{ b: 2, secret: 3 }], [{ b: 2 }]],
  ["Book | Book[]", [{ id: 1, secret: 2 }], [{ id: 1 }]],
  ["Book | { items: Book[] }", { items: [{ id: 1, secret: 2 }], secret: 3 }, { items: [{ id: 1 }] }],
  // A wrong value is otherwise sent as it is.
  ["Book", "text", "text"],
  ["Book", [1], [1]],
  ["{ at: Date; id: bigint; link: URL }", { at, id: 1n, secret: 2 }, { at, id: 1n }],
  // Untouched.
  ["unknown", { secret: 2 }, { secret: 2 }],
  ["any", { secret: 2 }, { secret: 2 }],
  ["object", { secret: 2 }, { secret: 2 }],
  ["{}", { secret: 2 }, { secret: 2 }],
  [
    "{ inner: object; any: any }",
    { inner: { a: 1 }, any: { b: 2 }, secret: 3 },
    { inner: { a: 1 }, any: { b: 2 } },
  ],
  ["Book | unknown", { secret: 2 }, { secret: 2 }],
  ["number", 1, 1],
];

test("a written return type decides which properties are sent", () => {
  for (const [returns, value, expected] of ROWS) {
    const before = structuredClone(value);
    assert.deepEqual(sent(returns, value, DECLARATIONS), expected, returns);
    assert.deepEqual(value, before, `${returns} changed the value`);
  }
});

test("objects with a form of their own are untouched", async () => {
  const own = { toJSON: () => "own", secret: 1 };
  const values = [
    own,
    at,
    new Blob(["x"]),
    new Uint8Array([1]),
    new Error("x"),
    Response.json({}),
    new URL("http://a"),
  ];
  for (const value of values)
    for (const returns of ["Book", "Book | { b: number }", "Book | Response | Blob"])
      assert.equal(sent(returns, value, DECLARATIONS), value, `${returns} ${String(value)}`);
  assert.equal(sent("T", own), own);
});

test("own properties of class instances are projected, and inherited ones are not sent", () => {
  class Base {
    get inherited() {
      return 1;
    }
  }
  class Row extends Base {
    id = 1;
    #hidden = 2;
    secret = this.#hidden;
  }
  assert.deepEqual(sent("{ id: number; inherited: number }", new Row()), { id: 1 });
});

test("a value without undeclared properties is not copied", () => {
  const value = { id: 1, title: "t" };
  assert.equal(sent("Book", value, DECLARATIONS), value);
  const list = [value];
  assert.equal(sent("Book[]", list, DECLARATIONS), list);
});

test("a property named __proto__ is data", () => {
  const value = JSON.parse('{ "__proto__": { "x": 1 }, "id": 1, "secret": 2 }') as unknown;
  assert.equal(JSON.stringify(sent("Book", value, DECLARATIONS)), '{"id":1}');
  const kept = sent("{ __proto__: { x: number }; id: number }", value);
  assert.equal(JSON.stringify(kept), '{"__proto__":{"x":1},"id":1}');
});

test("an object that fits no member of a union is an error, never sent as a whole", () => {
  for (const [returns, value] of [
    ["Shape", { kind: "line", secret: 1 }],
    ["Loose", { secret: 1 }],
    ["Book | string", { secret: 1 }],
    ["Book | null", []],
  ] as const)
    assert.throws(() => sent(returns, value, DECLARATIONS), /fits no member of the union/, returns);
});

test("the items of a stream are projected, and its end reaches the generator", async () => {
  let ended = 0;
  async function* rows() {
    try {
      yield { id: 1, secret: 2 };
      yield { id: 2, secret: 3 };
    } finally {
      ended++;
    }
  }
  function* syncRows() {
    yield* [{ id: 1, secret: 2 }];
  }
  const items = sent("AsyncGenerator<Book>", rows(), DECLARATIONS) as AsyncIterable<unknown>;
  const found: unknown[] = [];
  for await (const item of items) found.push(item);
  assert.deepEqual(found, [{ id: 1 }, { id: 2 }]);
  const left = (sent("AsyncGenerator<Book> | Book", rows(), DECLARATIONS) as AsyncIterable<unknown>)[
    Symbol.asyncIterator
  ]();
  assert.deepEqual(await left.next(), { done: false, value: { id: 1 } });
  await left.return?.();
  assert.equal(ended, 2);
  for await (const item of sent("Generator<Book>", syncRows(), DECLARATIONS) as AsyncIterable<unknown>)
    assert.deepEqual(item, { id: 1 });
});

test("an inferred return type only documents", () => {
  const signature = signatureOf(`class X { GET(): { id: number } { return null!; } }`);
  assert.equal(compileProjection({ ...signature, inferred: true }), undefined);
});

test("no property outside of the type is sent, whatever the value", () => {
  const project = compileProjection(
    signatureOf(`${DECLARATIONS}\nclass X { GET(): Tree { return null!; } }`),
  )!;
  const isProjected = (value: unknown): boolean => {
    if (typeof value !== "object" || value === null) return true;
    if (Array.isArray(value)) return value.every(isProjected);
    const names = Object.keys(value);
    return (
      names.every((name) => name === "name" || name === "children") &&
      isProjected((value as { children?: unknown }).children)
    );
  };
  fc.assert(
    fc.property(fc.object({ key: fc.constantFrom("name", "children", "secret", "__proto__") }), (value) => {
      assert.ok(isProjected(project(value)));
    }),
  );
});

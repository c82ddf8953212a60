import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { FormFields } from "./model/input.ts";
import { binderOf, bound, faultsOf, form, input, json } from "./support.fixture.ts";

/** method, target (followed by a space and a JSON body, if any), arguments or faults */
const CASES: readonly (readonly [method: string, request: string, expected: unknown[]])[] = [
  ["GET()", "", []],
  // A JSON list as the whole body.
  ["POST(items: number[])", " [1,2]", [[1, 2]]],
  ["POST(items: number[])", ' [1,"x"]', ["400 body.items[1] must be a number, got a string"]],
  ["POST(items: number[])", ' {"items":[1]}', [[1]]],
  ["POST(items?: number[])", "", [undefined]],
  ["POST(items: number[] | null)", " [1]", [[1]]],
  ["POST(pair: [number, string])", ' [1,"a"]', [[1, "a"]]],
  ["PUT(id: number, items: number[])", "7 [1]", [7, [1]]],
  ["PUT(id: number, items: number[])", ' {"id":7,"items":[1]}', [7, [1]]],
  [
    "PUT(items: number[], id: number)",
    " [1]",
    [
      "404 path.items is required",
      "404 path.id is required",
      "400 body. must be a JSON object, got a list",
    ].map((fault) => fault.replace("400", "404")),
  ],
  ["POST(a: number[], b: number[])", ' {"a":[1],"b":[2]}', [[1], [2]]],
  ["POST(body: number[])", " [1]", [[1]]],
  [
    "POST(items: number[])",
    " 5",
    ["404 path.items is required", "404 body. must be a JSON object, got a number"],
  ],
  // Two objects by their names.
  ["POST(a: { x: number }, b: { y: number })", ' {"a":{"x":1},"b":{"y":2}}', [{ x: 1 }, { y: 2 }]],
  [
    "POST(a: { x: number }, b: { y: number })",
    ' {"a":{"x":1},"y":2}',
    ["404 path.b is required", "404 body.y is not an argument of this method"],
  ],
  ["POST(id: number, a: { id: number })", '7 {"id":8}', [7, { id: 8 }]],
  ["POST(it: {})", ' {"any":1}', [{ any: 1 }]],
  ["GET()", "x", ["404 path. takes at most 0 path segments, got 1"]],
  ["GET()", "?x=1", ["400 query.x is not an argument of this method"]],
  [
    "GET({ author, page }: { author?: string; page?: number })",
    "?auhtor=x&Page=1&size=3",
    [
      '400 query.auhtor is not an argument of this method; did you mean "author"?',
      '400 query.Page is not an argument of this method; did you mean "page"?',
      "400 query.size is not an argument of this method",
    ],
  ],
  [
    "POST(book: { at: { title?: string } })",
    ' {"at":{"titel":"x"}}',
    ['400 body.at.titel is not a known property; did you mean "title"?'],
  ],
  ["GET(id: number)", "12", [12]],
  ["GET(id: number)", "", ["404 path.id is required"]],
  ["GET(id: number)", "1/2", ["404 path. takes at most 1 path segment, got 2"]],
  ["GET(id: number)", "?id=12", [12]],
  ["GET(id: number)", "?id=x", ["400 query.id must be a number"]],
  ["GET(id: number)", "12?id=12", ["400 query.id is already given in the path"]],
  [
    "GET(id: number)",
    "x?id=12&z",
    [
      "400 path.id must be a number",
      "400 query.id is already given in the path",
      "400 query.z is not an argument of this method",
    ],
  ],
  ["GET(id: number, name: string)", "12", ["404 path.name is required"]],
  ["GET(id: number, name: string)", "", ["404 path.id is required", "404 path.name is required"]],
  ["GET(id: number, name: string)", "12?name=x", [12, "x"]],
  ["GET(id: number, name: string)", "?name=x&id=1", [1, "x"]],
  ["GET(id: number, name: string)", "?name=x", ["404 path.id is required"]],
  ["GET(id?: number)", "", [undefined]],
  ["GET(id?: number, name?: string)", "?name=x", [undefined, "x"]],
  ["GET(id = 1)", "", [undefined]],
  ["GET(id = 1)", "x", ["400 path.id must be a number"]],
  ["GET(id: number | undefined)", "", [undefined]],
  ["GET(name = 'x')", "12", ["12"]],
  ["GET(flag = false)", "yes", [true]],
  ["GET(size = 5n)", "7", [7n]],
  ["GET(since = new Date())", "2026-01-01", [new Date("2026-01-01T00:00:00Z")]],
  ["GET(ids = [1, 2])", "7", [[7]]],
  ["GET(id)", "12", ["12"]],
  ["GET(this: object, id: number)", "12", [12]],
  ["GET(...path: string[])", "a/b/c", ["a", "b", "c"]],
  ["GET(...path: string[])", "", []],
  ["GET(...path)", "a/b", ["a", "b"]],
  [
    "GET(...ids: number[])",
    "1/x/y",
    ["400 path.ids[1] must be a number", "400 path.ids[2] must be a number"],
  ],
  ["GET(...path: string[])", "a?path=b", ["400 query.path is not an argument of this method"]],
  ["GET(id: number, ...path: string[])", "1/a/b", [1, "a", "b"]],
  ["GET(id: number, ...path: string[])", "", ["404 path.id is required"]],
  ["GET({ lang }: { lang?: string }, ...path: string[])", "a/b?lang=de", [{ lang: "de" }, "a", "b"]],
  ["GET({ lang }: { lang?: string }, ...path: string[])", "", [{}]],
  ["GET(id: number, { verbose = false }: { verbose?: boolean })", "12?verbose", [12, { verbose: true }]],
  ["GET(id: number, { verbose = false }: { verbose?: boolean })", "12", [12, {}]],
  ["GET(id: number, { verbose = false }: { verbose?: boolean } = {})", "12", [12, undefined]],
  ["GET(id: number, { verbose = false }: { verbose?: boolean } = {})", "12?verbose", [12, { verbose: true }]],
  ["GET(id: number, options?: { verbose?: boolean })", "12", [12, undefined]],
  ["GET(options?: { a: number; b: number })", "", [undefined]],
  ["GET(options?: { a: number; b: number })", "?a=1", ["400 query.b is required"]],
  ["GET({ page = 1 }: { page: number })", "", [{}]],
  ["GET({ page = 1 }: { page: number })", "?page=2", [{ page: 2 }]],
  ["GET({ page = 1, size })", "?size=x", [{ size: "x" }]],
  ["GET({ page = 1, size })", "?size=x&page=y", ["400 query.page must be a number"]],
  ["GET({ page = 1, size })", "", ["400 query.size is required"]],
  ["GET({ lang: language = 'en' })", "?lang=de", [{ lang: "de" }]],
  [
    "GET({ lang: language = 'en' })",
    "?language=de",
    ["400 query.language is not an argument of this method"],
  ],
  ["GET({ 'a-b': ab })", "?a-b=1", [{ "a-b": "1" }]],
  ["GET({ ...keywords })", "?a=1&b=2", [{ a: "1", b: "2" }]],
  ["GET({ ...keywords })", "", [{}]],
  ["GET({ ...keywords })", "?a=1&a=2", ["400 query.a must be given once, was given 2 times"]],
  ["GET({ a, ...others }: { a: number })", "?a=1&b=2", ["400 query.b is not an argument of this method"]],
  ["GET({ a, ...others }: { a: number; b?: number })", "?a=1&b=2", [{ a: 1, b: 2 }]],
  ["GET({ a, ...others }: { a: number; b?: number })", "?a=1&b=x", ["400 query.b must be a number"]],
  ["GET({ ...others }: { a: number })", "?a=1&b=2", ["400 query.b is not an argument of this method"]],
  [
    "GET({ a, ...others }: { a: 1 } | { b: 1 })",
    "?a=1&c=1",
    ["400 query.c is not an argument of this method"],
  ],
  ["GET({ a, ...others }: { a: number; [name: string]: number })", "?a=1&b=2", [{ a: 1, b: 2 }]],
  [
    "GET({ a, ...others }: { a: number; [name: string]: number })",
    "?a=1&b=x",
    ["400 query.b must be a number"],
  ],
  ["GET({ a, ...others }: { a: number } & Record<string, unknown>)", "?a=1&b=2", [{ a: 1, b: "2" }]],
  ["GET({ a, ...others }: Record<string, string | string[]>)", "?a=1&b=2&b=3", [{ a: "1", b: ["2", "3"] }]],
  ["GET({ a, ...others }: any)", "?a=1&b=2&b=3", ["400 query.b must be given once, was given 2 times"]],
  ["GET({ a, ...others })", "?a=1&b=2", [{ a: "1", b: "2" }]],
  ["GET(keywords: Record<string, string>)", "?a=1", [{ a: "1" }]],
  ["GET(keywords: Record<'a' | 'b', number>)", "?a=1", ["400 query.b is required"]],
  ["GET(keywords: Partial<Record<'a' | 'b', number>>)", "?a=1", [{ a: 1 }]],
  ["GET(keywords: object)", "?a=1&a=2", [{ a: ["1", "2"] }]],
  [
    "GET(id: string, keywords: Record<string, string>)",
    "1?id=2",
    ["400 query.id is already given in the path"],
  ],
  ["GET(id: string, keywords: Record<string, string>)", "?id=2&x=3", ["2", { x: "3" }]],
  ["PUT(id: number, book: { id?: number; title: string })", "1?id=2&title=x", [1, { id: 2, title: "x" }]],
  ["PUT(id: number, book: { id: number })", '1 {"id":2}', [1, { id: 2 }]],
  ["PUT(id: number, book: { id: number })", ' {"id":2}', ["404 path.id is required"]],
  ["POST({ name }: { name: string })", ' {"name":"x"}', [{ name: "x" }]],
  ["POST({ name }: { name: string })", '?name=query {"name":"body"}', [{ name: "body" }]],
  ["POST({ name }: { name: string })", "?name=query {}", [{ name: "query" }]],
  ["POST({ tags }: { tags: string[] })", '?tags=a&tags=b {"tags":["c"]}', [{ tags: ["c"] }]],
  ["POST({ name }: { name: string })", " {}", ["400 body.name is required"]],
  ["POST({ name }: { name: string })", "", ["400 body.name is required"]],
  ["GET({ name }: { name: string })", " {}", ["400 body.name is required"]],
  [
    "POST({ name }: { name: string })",
    ' {"name":1,"x":2}',
    ["400 body.name must be a string, got a number", "400 body.x is not an argument of this method"],
  ],
  ["POST({ name }: { name: string })", ' {"name":null}', ["400 body.name must be a string, got null"]],
  ["POST({ name }: { name?: string })", " [1]", ["400 body. must be a JSON object, got a list"]],
  ["POST({ name }: { name?: string })", " 5", ["400 body. must be a JSON object, got a number"]],
  ["POST({ name }: { name?: string })", " null", ["400 body. must be a JSON object, got null"]],
  ["POST(body: number[])", " [1,2]", [[1, 2]]],
  ["POST(body: number[])", ' [1,"2"]', ["400 body.body[1] must be a number, got a string"]],
  ["POST(body: number[])", ' {"body":[1]}', [[1]]],
  ["POST(body: unknown)", " null", [null]],
  ["POST({ body }: { body: string })", ' "text"', [{ body: "text" }]],
  ["POST(keywords: Record<string, unknown>)", " [1]", [{ body: [1] }]],
  ["POST(id: number, name: string)", ' {"id":1,"name":"x"}', [1, "x"]],
  ["POST(id: number, name: string)", '1 {"id":1,"name":"x"}', ["400 body.id is already given in the path"]],
  [
    "POST(point: { x: number }, name: string)",
    ' {"point":{"x":"1"},"name":"x"}',
    ["400 body.point.x must be a number, got a string"],
  ],
  ["POST({ when }: { when: Date })", ' {"when":"2026-01-01"}', [{ when: new Date("2026-01-01T00:00:00Z") }]],
  [
    "POST({ when }: { when: Date })",
    ' {"when":1}',
    ["400 body.when must be a date or time (ISO 8601), got a number"],
  ],
  ["POST({ big }: { big: bigint })", ' {"big":"12"}', [{ big: 12n }]],
  [
    "POST({ big }: { big: bigint })",
    ' {"big":12}',
    ["400 body.big must be an integer, written as a string, got a number"],
  ],
  ["POST({ link }: { link: URL })", ' {"link":"http://x/"}', [{ link: new URL("http://x/") }]],
  ["POST({ on }: { on: boolean })", ' {"on":"true"}', ["400 body.on must be true or false, got a string"]],
  ["POST({ on }: { on: boolean })", ' {"on":1}', ["400 body.on must be true or false, got a number"]],
  ["POST({ n }: { n: number })", ' {"n":"1"}', ["400 body.n must be a number, got a string"]],
  [
    "POST({ n }: { n: number })",
    ' {"n":9007199254740993}',
    ["400 body.n is too large an integer to be exact: it must be within ±9007199254740991"],
  ],
  ["POST({ n }: { n: number })", ' {"n":1e300}', [{ n: 1e300 }]],
  ["POST({ n }: { n: number })", ' {"n":1e999}', ["400 body.n is too large a number"]],
  ["POST({ n }: { n: number | null })", ' {"n":null}', [{ n: null }]],
  ["POST({ n }: { n?: number })", ' {"n":null}', ["400 body.n must be a number, got null"]],
  ["POST({ n }: { n: 1 | 2 })", ' {"n":2}', [{ n: 2 }]],
  ["POST({ n }: { n: 1 | 2 })", ' {"n":"2"}', ["400 body.n must be 1 or 2, got a string"]],
  ["POST({ n }: { n: string | number })", ' {"n":"2"}', [{ n: "2" }]],
  ["POST({ n })", ' {"n":{"deep":1}}', [{ n: { deep: 1 } }]],
  ["POST({ list }: { list: string[] })", ' {"list":"a"}', ["400 body.list must be a list, got a string"]],
  ["POST({ pair }: { pair: [number, string] })", ' {"pair":[1,"a"]}', [{ pair: [1, "a"] }]],
  [
    "POST({ pair }: { pair: [number, string] })",
    ' {"pair":[1]}',
    ["400 body.pair must be a list of 2, got 1"],
  ],
  [
    "POST({ pair }: { pair: [number, string] })",
    ' {"pair":["a",1]}',
    ["400 body.pair[0] must be a number, got a string", "400 body.pair[1] must be a string, got a number"],
  ],
  ["POST(book: { at: { x: number; y?: number } })", ' {"at":{"x":1}}', [{ at: { x: 1 } }]],
  [
    "POST(book: { at: { x: number; y?: number } })",
    ' {"at":{"y":"1","z":2}}',
    [
      "400 body.at.y must be a number, got a string",
      "400 body.at.z is not a known property",
      "400 body.at.x is required",
    ],
  ],
  ["POST(book: { at: { x: number } })", ' {"at":[]}', ["400 body.at must be an object, got a list"]],
  [
    "POST(book: { tags: Record<string, number> })",
    ' {"tags":{"a b":1,"c":"x"}}',
    ["400 body.tags.c must be a number, got a string"],
  ],
  [
    "POST(book: { tags: Record<string, number> })",
    ' {"tags":{"a b":"1"}}',
    ['400 body.tags["a b"] must be a number, got a string'],
  ],
  [
    "POST(book: { tags: { name: string }[] })",
    ' {"tags":[{"name":"a"},{}]}',
    ["400 body.tags[1].name is required"],
  ],
];

function split(request: string) {
  const at = request.indexOf(" ");
  if (at < 0) return input(request);
  return input(request.slice(0, at), json(JSON.parse(request.slice(at + 1))));
}

suite("arguments come from path, query and body", () => {
  for (const [method, request, expected] of CASES) {
    test(`${method} <- ${request}`, () => {
      assert.deepEqual(bound(binderOf(method), split(request)), expected);
    });
  }
});

test("a property called body is an ordinary name", () => {
  const binder = binderOf("POST({ a }: { a?: number })");
  assert.deepEqual(bound(binder, input("", json({ body: 1 }))), [
    "400 body.body is not an argument of this method",
  ]);
});

suite("unknown keywords may be ignored", () => {
  const options = { unknownKeywords: "ignore" } as const;
  test("unknown keywords at the top level and within objects are dropped", () => {
    const binder = binderOf("POST(book: { a: number; at: { x: number } })", "", options);
    assert.deepEqual(bound(binder, input("?z=1", json({ a: 1, b: 2, at: { x: 1, y: 2 } }))), [
      { a: 1, at: { x: 1 } },
    ]);
  });
  test("a body that is not an object is a fault", () => {
    const binder = binderOf("POST({ a }: { a?: number })", "", options);
    assert.deepEqual(bound(binder, input("?z=1", json([1]))), [
      "400 body. must be a JSON object, got a list",
    ]);
    assert.deepEqual(bound(binder, input("", json({ body: 1 }))), [{}]);
  });
  test("a method without keywords ignores them, too", () => {
    assert.deepEqual(bound(binderOf("GET(id: number)", "", options), input("1?utm_source=x")), [1]);
  });
});

suite("forms", () => {
  const file = { filename: "a.txt", type: "text/plain", bytes: new TextEncoder().encode("hello") };
  const upload = "POST({ it, note }: { it: TYPE; note?: string })";
  const bind = (type: string, ...fields: FormFields) =>
    binderOf(upload.replace("TYPE", type)).bind(input("", form(...fields)));

  test("fields are text, coerced", () => {
    assert.deepEqual(
      bound(binderOf("POST({ n, s }: { n: number; s: string })"), input("", form(["n", "1"], ["s", ""]))),
      [{ n: 1, s: "" }],
    );
  });
  test("repeated fields make lists", () => {
    assert.deepEqual(
      bound(binderOf("POST({ n }: { n: number[] })"), input("", form(["n", "1"], ["n", "2"]))),
      [{ n: [1, 2] }],
    );
  });
  test("a File has name, type and bytes", async () => {
    const [{ it: made, note }] = bind("File", ["it", file], ["note", "x"]) as [{ it: File; note: string }];
    assert.ok(made instanceof File);
    assert.deepEqual([made.name, made.type, await made.text(), note], ["a.txt", "text/plain", "hello", "x"]);
  });
  test("a Blob has type and bytes", async () => {
    const [{ it: made }] = bind("Blob", ["it", file]) as [{ it: Blob }];
    assert.ok(made instanceof Blob && !(made instanceof File));
    assert.deepEqual([made.type, await made.text()], ["text/plain", "hello"]);
  });
  test("a Uint8Array is the bytes", () => {
    const [{ it: made }] = bind("Uint8Array", ["it", file]) as [{ it: Uint8Array }];
    assert.deepEqual(made, file.bytes);
  });
  test("files repeat where a list is accepted", () => {
    const [{ it: made }] = bind("File[]", ["it", file], ["it", file]) as [{ it: File[] }];
    assert.equal(made.length, 2);
    assert.ok(made.every((one) => one instanceof File));
  });
  test("a single file is a list with one item", () => {
    const [{ it: made }] = bind("Uint8Array[]", ["it", file]) as [{ it: Uint8Array[] }];
    assert.deepEqual(made, [file.bytes]);
  });
  test("a union takes text or file", () => {
    const [{ it: text }] = bind("string | File", ["it", "x"]) as [{ it: unknown }];
    const [{ it: made }] = bind("string | File", ["it", file]) as [{ it: unknown }];
    assert.equal(text, "x");
    assert.ok(made instanceof File);
  });
  test("unknown takes files", () => {
    const [{ it: made }] = bind("unknown", ["it", file]) as [{ it: unknown }];
    assert.ok(made instanceof File);
  });
  test("a file instead of text is a fault", () => {
    assert.deepEqual(faultsOf(bind("string", ["it", file])), ["400 body.it must be text, got a file"]);
  });
  test("text instead of a file is a fault", () => {
    assert.deepEqual(faultsOf(bind("File", ["it", "x"])), [
      "400 body.it must be a file in a multipart/form-data form, got text",
    ]);
  });
  test("JSON instead of a file is a fault", () => {
    const result = binderOf("POST({ it }: { it: Uint8Array })").bind(input("", json({ it: "x" })));
    assert.deepEqual(faultsOf(result), [
      "400 body.it must be a file in a multipart/form-data form, got a string",
    ]);
  });
});

suite("unions of objects", () => {
  const shapes = "type Shape = { kind: 'circle'; r: number } | { kind: 'box'; w: number; h: number };";
  const rows: readonly (readonly [request: string, expected: unknown[]])[] = [
    ["?kind=circle&r=2", [{ kind: "circle", r: 2 }]],
    ["?kind=box&w=2&h=3", [{ kind: "box", w: 2, h: 3 }]],
    ["?kind=box&w=2&r=3", ["400 body.h is required", "400 query.r does not belong here"]],
    ["?kind=line", ['400 query.kind must be "circle" or "box"']],
    ["?r=2", ["400 body.kind is required"]],
    [' {"kind":"circle","r":2}', [{ kind: "circle", r: 2 }]],
    [' {"kind":"circle","r":"2"}', ["400 body.r must be a number, got a string"]],
    [' {"kind":1}', ['400 body.kind must be "circle" or "box"']],
  ];
  for (const [request, expected] of rows) {
    test(`the keyword object by its discriminator <- ${request}`, () => {
      assert.deepEqual(bound(binderOf("POST(shape: Shape)", shapes), split(request)), expected);
    });
  }
  const nested: readonly (readonly [body: unknown, expected: unknown])[] = [
    [{ kind: "circle", r: 2 }, [{ shape: { kind: "circle", r: 2 } }]],
    [{ kind: "circle", w: 2 }, ["400 body.shape.w is not a known property", "400 body.shape.r is required"]],
    [{ kind: "line" }, ['400 body.shape.kind must be "circle" or "box"']],
    [{}, ["400 body.shape.kind is required"]],
    ["circle", ["400 body.shape must be an object, got a string"]],
  ];
  for (const [shape, expected] of nested) {
    test(`nested by its discriminator <- ${JSON.stringify(shape)}`, () => {
      assert.deepEqual(
        bound(binderOf("POST({ shape }: { shape: Shape })", shapes), input("", json({ shape }))),
        expected,
      );
    });
  }
  test("a discriminator may be a boolean", () => {
    const binder = binderOf("GET(it: { on: true; level: 1 | 2 } | { on: false })");
    assert.deepEqual(bound(binder, input("?on&level=2")), [{ on: true, level: 2 }]);
    assert.deepEqual(bound(binder, input("?on=no")), [{ on: false }]);
    assert.deepEqual(bound(binder, input("?on=maybe")), ["400 query.on must be true or false"]);
    assert.deepEqual(bound(binder, input("", json({ on: false }))), [{ on: false }]);
    assert.deepEqual(bound(binder, input("", json({ on: "no" }))), ["400 body.on must be true or false"]);
  });
  test("a union without a discriminator takes the first fitting member", () => {
    const binder = binderOf("GET(by: { id: number } | { name: string })");
    assert.deepEqual(bound(binder, input("?id=1")), [{ id: 1 }]);
    assert.deepEqual(bound(binder, input("?name=x")), [{ name: "x" }]);
    assert.deepEqual(bound(binder, input("?id=x")), ["400 query.id must be a number"]);
    assert.deepEqual(bound(binder, input("?id=1&name=x")), ["400 query.name does not belong here"]);
  });
  test("a nested union without a discriminator has the faults of the member that fits best", () => {
    const binder = binderOf("POST({ by }: { by: { id: number } | { name: string; age: number } })");
    assert.deepEqual(bound(binder, input("", json({ by: { name: "x", age: 1 } }))), [
      { by: { name: "x", age: 1 } },
    ]);
    assert.deepEqual(bound(binder, input("", json({ by: { name: "x", age: "1" } }))), [
      "400 body.by.age must be a number, got a string",
    ]);
  });
});

suite("the questions of an application before it binds", () => {
  const rows: readonly (readonly [method: string, minimum: number, maximum: number, readsBody: boolean])[] = [
    ["GET()", 0, 0, false],
    ["GET(id: number)", 1, 1, true],
    ["GET(id?: number)", 0, 1, true],
    ["GET(id: number, name = 'x')", 1, 2, true],
    ["GET(...path: string[])", 0, Number.POSITIVE_INFINITY, true],
    ["GET(id: number, ...path: string[])", 1, Number.POSITIVE_INFINITY, true],
    ["GET({ a }: { a?: string })", 0, 0, true],
    ["PUT(id: number, book: { id: number })", 1, 1, true],
  ];
  for (const [method, minimum, maximum, readsBody] of rows) {
    test(method, () => {
      const binder = binderOf(method);
      assert.deepEqual([binder.minimum, binder.maximum, binder.readsBody], [minimum, maximum, readsBody]);
    });
  }
  test("the binder names the first parameter without a possible argument", () => {
    const binder = binderOf("GET(id: number, name: string, note?: string)");
    assert.equal(binder.missing(2, "", false), undefined);
    assert.equal(binder.missing(1, "", false), "name");
    assert.equal(binder.missing(1, "name=x", false), undefined);
    assert.equal(binder.missing(0, "name=x", false), "id");
    assert.equal(binder.missing(0, "", true), undefined);
    assert.equal(binder.missing(0, "%zz", false), "id");
    assert.equal(binderOf("PUT(id: number, book: { id: number })").missing(0, "id=1", false), "id");
  });
});

test("a rest element takes the fields that the type declares, from a body, too", () => {
  const closed = binderOf("PATCH(id: number, { note, ...fields }: { note?: string; title?: string })");
  const open = binderOf("PATCH(id: number, { note, ...fields }: { note?: string; [name: string]: unknown })");
  const rows: readonly (readonly [binder: typeof closed, body: object, fault?: string])[] = [
    [closed, { note: "n", title: "t" }],
    [closed, { admin: true }, "400 body.admin is not an argument of this method"],
    [closed, { title: 1 }, "400 body.title must be a string, got a number"],
    [open, { admin: true }],
  ];
  for (const [binder, body, fault] of rows)
    assert.deepEqual(bound(binder, input("1", json(body))), fault === undefined ? [1, body] : [fault]);
});

suite("bounds", () => {
  const many = (count: number) => Array.from({ length: count }, (_, index) => `n${index}=`).join("&");
  test("a request has at most a thousand names", () => {
    const binder = binderOf("GET({ ...keywords })");
    assert.equal(Object.keys((bound(binder, input(`?${many(1000)}`)) as object[])[0]!).length, 1000);
    assert.deepEqual(bound(binder, input(`?${many(1001)}`)), ["400 query. more than 1000 names"]);
  });
  test("the bound applies to the names of query and body together", () => {
    const binder = binderOf("POST({ ...keywords })");
    const fields = Array.from({ length: 501 }, (_, index) => [`b${index}`, ""] as const);
    assert.deepEqual(bound(binder, input(`?${many(500)}`, form(...fields))), [
      "400 body. more than 1000 names",
    ]);
    assert.deepEqual(bound(binder, input(`?${many(500)}`, json(Object.fromEntries(fields)))), [
      "400 body. more than 1000 names",
    ]);
  });
  test("one request leaves no data for the next one", () => {
    const binder = binderOf("POST({ a, b, ...rest })");
    bound(binder, input("?a=1&b=2&c=3"));
    assert.deepEqual(bound(binder, input("")), ["400 body.a is required", "400 body.b is required"]);
    bound(binder, input("?a=%zz"));
    bound(binder, input(`?a=1&${many(1001)}`));
    assert.deepEqual(bound(binder, input("?a=1&b=2")), [{ a: "1", b: "2" }]);
  });
});

test("a name that a parameter and the keyword arguments share prevents startup, if only a body can fill both", () => {
  assert.throws(() => binderOf("POST(items: number[], { items: all }: { items: string })"), {
    code: "UNREADABLE_PARAMETER",
    message: /:2:29: items is a parameter and also a name of the keyword arguments, .* Rename one of them/,
  });
  // The path fills the parameter.
  assert.deepEqual(
    bound(binderOf("PUT(id: number, { id: own }: { id: number })"), input("1", json({ id: 2 }))),
    [1, { id: 2 }],
  );
});

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { fileURLToPath } from "node:url";
import { SignatureError } from "./model/signature-error.ts";
import { binderOf, bound, input, json, signatureOf, VIRTUAL_FILE } from "./support.fixture.ts";

const IMPORTS =
  'import type { Book, Entity, Page, Tree, Json, Slug, Visible, Imprint, Extra, everything } from "./models.ts";\n';

/** declarations, type of the keyword object, JSON body, result: the body itself, or faults */
const READABLE: readonly (readonly [declarations: string, type: string, body: object, faults?: string[]])[] =
  [
    ["interface A { x: number }", "A", { x: 1 }],
    ["interface A { x: number }", "A", { x: "1" }, ["x must be a number, got a string"]],
    ["interface A { x: number } interface B extends A { y: string }", "B", { x: 1, y: "a" }],
    [
      "interface A { x: number } interface B extends A { x: 1 | 2 }",
      "B",
      { x: 3 },
      ["x must be 1 or 2, got a number"],
    ],
    [
      "interface A { x: number } interface C { z: 1 } interface B extends A, C { y: string }",
      "B",
      { x: 1, y: "a", z: 1 },
    ],
    ["interface A { x: number } interface A { y: number }", "A", { x: 1 }, ["y is required"]],
    ["interface P<T> { it: T } interface B extends P<string[]> { y: 1 }", "B", { it: ["a"], y: 1 }],
    ["type A = { x: number } & { y: string }", "A", { x: 1, y: "a" }],
    ["type A = { x: number } & { y: string }", "A", { x: 1 }, ["y is required"]],
    ["type A = { x: string } & { x: 'a' | 'b' }", "A", { x: "c" }, ['x must be "a" or "b", got a string']],
    ["type A = { x: number } & ({ k: 'a'; y: 1 } | { k: 'b'; z: 2 })", "A", { x: 1, k: "b", z: 2 }],
    [
      "type A = { x: number } & ({ k: 'a'; y: 1 } | { k: 'b'; z: 2 })",
      "A",
      { x: 1, k: "b" },
      ["z is required"],
    ],
    ["type A = Partial<{ x: number; y: string }>", "A", {}],
    ["type A = Required<{ x?: number; y: string }>", "A", { y: "a" }, ["x is required"]],
    ["type A = Readonly<{ x: number }>", "A", { x: 1 }],
    ["type A = Pick<{ x: number; y: string }, 'x'>", "A", { x: 1 }],
    [
      "type A = Pick<{ x: number; y: string }, 'x'>",
      "A",
      { x: 1, y: "a" },
      ["y is not an argument of this method"],
    ],
    ["type A = Omit<{ x: number; y: string }, 'x'>", "A", { y: "a" }],
    ["type A = Partial<Omit<{ x: number; y: string; z: 1 }, 'x' | 'z'>>", "A", {}],
    ["type A = Omit<{ x: number; y: string }, 'x'> & Partial<Pick<{ x: number }, 'x'>>", "A", { y: "a" }],
    ["type B = { x: number; y: string }; type A = { key: keyof B }", "A", { key: "y" }],
    [
      "type B = { x: number; y: string }; type A = { key: keyof B }",
      "A",
      { key: "z" },
      ['key must be "x" or "y", got a string'],
    ],
    ["type B = { x: { deep: number } }; type A = { it: B['x']['deep'] }", "A", { it: 1 }],
    [
      "type B = { x: number; y: string }; type A = { it: B['x' | 'y'] }",
      "A",
      { it: true },
      ["it must be a number or text, got a boolean"],
    ],
    ["type B = { x: number; y: string }; type A = { it: B[keyof B] }", "A", { it: "a" }],
    ["type B = { x?: number }; type A = { it: B['x'] }", "A", {}],
    ["type B = { x: number }[]; type A = B[number]", "A", { x: 1 }],
    ["type B = [number, string]; type A = { it: B[1] }", "A", { it: "a" }],
    [
      "const C = ['a', 'b'] as const; type A = { it: (typeof C)[number] }",
      "A",
      { it: "c" },
      ['it must be "a" or "b", got a string'],
    ],
    [
      "const C = ['a', 'b'] as const; const D = [...C, 'c'] as const; type A = { it: (typeof D)[number] }",
      "A",
      { it: "c" },
    ],
    ["const C = ['a', 'b'] as const satisfies string[]; type A = { it: (typeof C)[0] }", "A", { it: "a" }],
    ["const C = ['a', 'b']; type A = { it: (typeof C)[number] }", "A", { it: "z" }],
    ["const C = { a: 1, b: 2 } as const; type A = { it: keyof typeof C }", "A", { it: "b" }],
    [
      "const C = { a: 1, b: 2 } as const; type A = { it: (typeof C)[keyof typeof C] }",
      "A",
      { it: 3 },
      ["it must be 1 or 2, got a number"],
    ],
    ["const C = { a: { b: 'x' } } as const; type A = { it: typeof C.a.b }", "A", { it: "x" }],
    ["const C = 5; type A = { it: typeof C }", "A", { it: 5 }],
    ["declare const C: 'x' | 'y'; type A = { it: typeof C }", "A", { it: "y" }],
    [
      "type P<T> = { items: T[] }; type A = P<{ x: number }>",
      "A",
      { items: [{ x: 1 }, {}] },
      ["items[1].x is required"],
    ],
    ["type P<T = string> = { it: T }", "P", { it: "a" }],
    ["type P<T, U = T[]> = { it: T; all: U }", "P<number>", { it: 1, all: [2] }],
    ["type M<T> = T | null; type A = { it: M<M<number>> }", "A", { it: null }],
    ["type A = { [K in 'x' | 'y']: number }", "A", { x: 1, y: 2 }],
    ["type B = { x?: number; y: string }; type A = { [K in keyof B]: B[K] }", "A", { y: "a" }],
    [
      "type B = { x?: number; y: string }; type A = { [K in keyof B]-?: B[K] }",
      "A",
      { y: "a" },
      ["x is required"],
    ],
    ["type B = { x: number }; type A = { [K in keyof B]?: B[K][] }", "A", { x: [1] }],
    ["type A = { [K in string]: number }", "A", { any: 1 }],
    ["type A = Record<'x' | 'y', number>", "A", { x: 1, y: 2 }],
    ["type A = Record<'x', number> & { y: 1 }", "A", { x: 1, y: 1 }],
    [
      "interface T { name: string; children?: T[] }",
      "T",
      { name: "a", children: [{ name: "b", children: [{}] }] },
      ["children[0].children[0].name is required"],
    ],
    ["interface T { it?: Partial<T>; own: string }", "T", { own: "a", it: { it: {} } }],
    ["interface T { id: number; parent?: T['id'] }", "T", { id: 1, parent: 2 }],
    [
      "interface O { id: string; lines: L[] } interface L { order?: O; n: number }",
      "O",
      { id: "a", lines: [{ n: 1, order: { id: "b", lines: [] } }] },
    ],
    [
      "interface L<T> { value: T; next?: L<T> } type A = { numbers: L<number>; texts: L<string> }",
      "A",
      {
        numbers: { value: 1, next: { value: 2 } },
        texts: { value: "a", next: { value: 1 } },
      },
      ["texts.next.value must be a string, got a number"],
    ],
    ["type A = { a: string | undefined; b?: never }", "A", {}],
    ["type A = { readonly a: readonly string[] }", "A", { a: ["x"] }],
    [
      IMPORTS,
      "Book",
      {
        id: 1,
        title: "a",
        color: "red",
        publisher: { name: "p", country: "de", catalogue: [{ id: 1, title: "x" }] },
      },
    ],
    [
      IMPORTS,
      "Book",
      { id: 0, title: "a", color: "blue", country: "xx" },
      [
        "id must be at least 1",
        'color must be "red" or "green", got a string',
        'country must be "de" or "fr", got a string',
      ],
    ],
    [IMPORTS, "Page<Book>", { items: [{ id: 1, title: "a" }], next: "cursor" }],
    [
      IMPORTS,
      "Page<Tree, 'a'>",
      { items: [{ name: "a", children: [{ name: 1 }] }] },
      ["items[0].children[0].name must be a string, got a number"],
    ],
    [IMPORTS, "{ it: Json }", { it: [1, "a", null, { deep: [true, { x: 1 }] }] }],
    [IMPORTS, "{ it: Slug }", { it: "A" }, ["it must match ^[a-z]+$"]],
    [IMPORTS, "Visible", { secret: "x" }],
    [IMPORTS, "Imprint", { name: "x", country: "fr" }],
    [IMPORTS, "Extra", { extra: true }],
    [IMPORTS, "everything.Extra", { extra: true }],
    [
      'import type * as models from "./models.ts";',
      "models.Entity & models.everything.Extra",
      { id: 1, extra: true },
    ],
    [
      'import type * as models from "./models.ts"; interface B extends models.everything.Extra, models.Entity { x: 1 }',
      "B",
      { x: 1, extra: true, id: 1 },
    ],
    ['import type Book from "./models.ts";', "Book", { title: "x" }],
    ['import { type Book as Volume } from "./models.js";', "Volume", { id: 1, title: "x" }],
    ['import type { Book } from "./models";', "Pick<Book, 'title'>", { title: "x" }],
    ["", 'import("./models.ts").Book', { id: 1, title: "x" }],
    ["", 'import("./models.ts").Page<string>', { items: ["x"] }],
    [
      'import { COLORS, LIMITS } from "./models.ts";',
      "{ c: (typeof COLORS)[number]; l: keyof typeof LIMITS }",
      { c: "red", l: "small" },
    ],
    ['import * as models from "./models.ts";', "{ c: (typeof models.COLORS)[number] }", { c: "red" }],
  ];

suite("readable types", () => {
  for (const [declarations, type, body, faults] of READABLE) {
    test(`${declarations.replace(IMPORTS, "")} ${type} <- ${JSON.stringify(body)}`, () => {
      const actual = bound(binderOf(`POST(it: ${type})`, declarations), input("", json(body)));
      assert.deepEqual(actual, faults ? faults.map((fault) => `400 body.${fault}`) : [body]);
    });
  }
  test("a type parameter of the method has the type of its constraint", () => {
    const binder = binderOf("GET<T extends 'a' | 'b', U>(it: T, other: U)");
    assert.deepEqual(bound(binder, input("a/x")), ["a", "x"]);
    assert.deepEqual(bound(binder, input("c/x")), ['400 path.it must be "a" or "b"']);
  });
  test("a type parameter that is constrained by itself", () => {
    const signature = signatureOf("interface N<T> { next?: T } class Crud { PUT<T extends N<T>>(it: T) {} }");
    assert.equal(signature.parameters[0]!.role, "keywords");
    assert.equal(Object.keys(signature.definitions).length, 1);
  });
  test("types declared within a function are visible there", () => {
    const signature = signatureOf(
      "type T = string; const mixin = () => { type T = number; return class { GET(it: T) {} }; };",
    );
    assert.deepEqual(signature.parameters[0]!.type, { kind: "number" });
  });
  test("a declaration overrides a built-in name", () => {
    const signature = signatureOf("type Date = 'never'; class A { GET(it: Date) {} }");
    assert.deepEqual(signature.parameters[0]!.type, { kind: "literal", value: "never" });
  });
  test("a type that contains itself is a reference by name", () => {
    const signature = signatureOf(`${IMPORTS} class A { POST(tree: Tree) {} }`);
    assert.deepEqual(signature.parameters[0]!.type, { kind: "reference", name: "Tree" });
    assert.deepEqual(Object.keys(signature.definitions), ["Tree"]);
  });
  test("# imports and a package's own name", () => {
    const file = fileURLToPath(
      new URL("../../test/fixtures/signature/imports/controllers.ts", import.meta.url),
    );
    for (const specifier of ["#models", "#lib/models", "signature-imports/own", "./lib/models.ts"]) {
      const signature = signatureOf(
        `import type { Model } from "${specifier}"; class A { POST(it: Model) {} }`,
        { file },
      );
      assert.equal(signature.parameters[0]!.type.kind, "object", specifier);
    }
  });
});

/** declarations, type of a parameter, the part at fault, the message */
const UNREADABLE: readonly (readonly [declarations: string, type: string, part: string, message: RegExp])[] =
  [
    ["", "Map<string, string>", "Map<string, string>", /cannot carry a Map; use Record<string, T>/],
    ["", "Set<string>", "Set<string>", /use T\[\]/],
    ["", "Nowhere", "Nowhere", /the type is neither declared, imported nor built in/],
    ["", "{ a: { b: Nowhere } }", "Nowhere", /neither declared, imported nor built in/],
    ["", "() => void", "() => void", /does not support this type/],
    ["", "{ run(): void }", "run(): void", /cannot carry a function/],
    ["", "symbol", "symbol", /does not support this type/],
    ["class Thing { x = 1 }", "Thing", "Thing", /it is a class/],
    [
      "type A<T> = T extends string ? 1 : 2;",
      "A<string>",
      "T extends string ? 1 : 2",
      /does not support this type/,
    ],
    ["type A<T> = { x: T };", "A", "A", /lacks a type for T/],
    ["type A<T> = { x: A<T[]> };", "A<string>", "", /grows endlessly/],
    ["type B = { x: 1 };", "B['y']", "'y'", /there is no property "y"/],
    ["type B = [1];", "B[4]", "4", /no such item/],
    ["const f = () => ['a'] as const; const C = f();", "(typeof C)[number]", "typeof C", /is not a literal/],
    ["let C = 'a';", "typeof C", "typeof C", /is not a literal/],
    ["", "`$" + "{string}-id`", "`$" + "{string}-id`", /@pattern/],
    ["", "keyof string", "string", /keys of an object type/],
    ["", "[...string[], number]", "number", /a tuple.s rest element must be last/],
    ['import type { Thing } from "./more.ts";', "Thing", "Thing", /it is a class/],
    ['import * as more from "./more.ts";', "more", "more", /it is a module/],
    [
      'import type { Nothing } from "./more.ts";',
      "Nothing",
      "Nothing",
      /neither declared, imported nor built in/,
    ],
    ["", 'import("./more.ts").Nothing', 'import("./more.ts").Nothing', /exports no such type/],
    ["interface A extends A { x: 1 }", "A", "A", /grows endlessly|not an object type/],
  ];

suite("an unreadable type prevents startup", () => {
  for (const [declarations, type, part, message] of UNREADABLE) {
    test(`${declarations} ${type}`, () => {
      const text = `${declarations}\nclass Example {\n  GET(it: ${type}) {}\n}`;
      assert.throws(
        () => signatureOf(text),
        (error) => {
          assert.ok(error instanceof SignatureError);
          assert.equal(error.code, "UNREADABLE_TYPE");
          assert.match(error.message, message);
          assert.match(
            error.message,
            /Write a plain type, give the argument a schema \(`static schema`\), or declare it `unknown`/,
          );
          const { file, line, column } = error.location!;
          assert.equal(file, VIRTUAL_FILE);
          assert.ok(error.message.startsWith(`${file}:${line}:${column}: `));
          assert.ok(
            text
              .split("\n")
              [line - 1]!.slice(column - 1)
              .startsWith(part),
            `${line}:${column}`,
          );
          return true;
        },
      );
    });
  }
  for (const declarations of [
    "type Loop<T = T> = { x: T }; type B = Loop;",
    "const a = b; const b = a; type B = typeof a;",
    "type B = B['x'];",
    "type B = { x: B } & B;",
    "type B = keyof B;",
    "interface B extends C {} interface C extends B {}",
    "type B = C; type C = B;",
    "type B = C; type C = D; type D = B;",
    "type B = B;",
    "type B = C | string; type C = B | number;",
    "type B = C | D; type C = D; type D = B;",
    "type B = NonNullable<C>; type C = B | null;",
    "type B = Exclude<B, 'x'>;",
    "type B<T> = C<T>; type C<T> = B<T>;",
    "type B = { it: C }; type C = D; type D = C;",
  ]) {
    test(`circular: ${declarations}`, () => {
      const type = declarations.startsWith("type B<T>") ? "B<string>" : "B";
      assert.throws(() => signatureOf(`${declarations} class Example { GET(it: ${type}) {} }`), {
        code: "UNREADABLE_TYPE",
        message: /virtual\.ts:1:\d+: /,
      });
    });
  }
  test("a circular alias is named with its line", () => {
    const text = "type A = B;\ntype B = A;\nclass Example {\n  GET(it: A) {}\n}";
    assert.throws(() => signatureOf(text), {
      message: /virtual\.ts:4:11: cannot read the type `A`: it refers only to itself.*static schema/,
    });
    const options = { unreadableTypes: "raw", warn: () => {} } as const;
    assert.deepEqual(signatureOf(text, options).parameters[0]!.type, { kind: "unreadable", text: "A" });
  });
  for (const declarations of [
    "type B = { it?: B };",
    "type B = B[];",
    "type B = string | B[];",
    "type B = C | null; type C = { it?: B };",
    "type B = [B?];",
    "type B = Record<string, C>; type C = B | string;",
  ]) {
    test(`a type that contains itself is not circular: ${declarations}`, () => {
      assert.ok(signatureOf(`${declarations} class Example { POST(it: B) {} }`));
    });
  }
  test("the place may be in another file", () => {
    assert.throws(
      () => signatureOf('import type { Broken } from "./broken.ts"; class A { GET(it: Broken) {} }'),
      (error) =>
        error instanceof SignatureError &&
        /broken\.ts$/.test(error.location!.file) &&
        error.location!.line === 3,
    );
  });
  test("a missing module", () => {
    assert.throws(() => signatureOf('import type { A } from "./gone.ts"; class B { GET(it: A) {} }'), {
      code: "UNREADABLE_TYPE",
      message: /virtual\.ts:1:15: cannot find the source of "\.\/gone\.ts".*static schema/,
    });
  });
  test("a module of Node", () => {
    const text = 'import type { IncomingMessage } from "node:http"; class B { GET(it: IncomingMessage) {} }';
    assert.throws(() => signatureOf(text), {
      code: "UNREADABLE_TYPE",
      message: /cannot find the source of "node:http"/,
    });
  });
  test("raw passes the value on unconverted, with a warning", () => {
    const warnings: string[] = [];
    const options = { unreadableTypes: "raw", warn: (message: string) => warnings.push(message) } as const;
    const binder = binderOf("GET(it: Map<string, string>, { a, b }: { a: Set<1>; b: number })", "", options);
    assert.deepEqual(bound(binder, input("x?a=1&b=2")), ["x", { a: "1", b: 2 }]);
    assert.deepEqual(bound(binder, input("x?a=1&b=y")), ["400 query.b must be a number"]);
    assert.equal(warnings.length, 2);
    assert.match(
      warnings[0]!,
      /virtual\.ts:2:\d+: cannot read the type `Map<string, string>`.* Its values are passed on unconverted/,
    );
  });
});

suite("a type parameter of a class prevents startup, because its argument is unknown", () => {
  const rows: readonly (readonly [text: string, place: string])[] = [
    ["class Crud<T> {\n  PUT(it: T) {}\n}", "2:11"],
    ["class Crud<T> {\n  PUT({ it }: { it: T }) {}\n}", "2:21"],
    ["class Crud<T> {\n  PUT(it: T[]) {}\n}", "2:11"],
    ["class Crud<T extends { id: number }> {\n  PUT(it: T) {}\n}", "2:11"],
    ["class Crud<T extends { id: number }> {\n  PUT(it: Partial<T>) {}\n}", "2:19"],
    ["class Crud<T extends { id: number }> {\n  PUT(id: T['id']) {}\n}", "2:11"],
    ["class Crud<T extends { id: number }> {\n  PUT(it: { key: keyof T }) {}\n}", "2:24"],
    ["class Crud<T = string> {\n  PUT(it: T) {}\n}", "2:11"],
    ["class Crud<T> {\n  PUT<U extends T>(it: U) {}\n}", "2:17"],
    ["type Box<V> = { it: V };\nclass Crud<T> {\n  PUT(it: Box<T>) {}\n}", "3:15"],
    ["const crud = <T>() =>\n  class {\n    PUT(it: T) {}\n  };", "3:13"],
  ];
  for (const [text, place] of rows) {
    test(text.replaceAll("\n", " "), () => {
      assert.throws(
        () => signatureOf(text),
        (error) => {
          assert.ok(error instanceof SignatureError);
          assert.equal(error.code, "UNREADABLE_TYPE");
          assert.ok(error.message.startsWith(`${VIRTUAL_FILE}:${place}: `), error.message);
          assert.match(error.message, /it is a type parameter of a class or function around the method/);
          assert.match(error.message, /Write the method in the derived class with its own type/);
          assert.match(error.message, /static schema/);
          return true;
        },
      );
    });
  }
  test("a schema replaces it", () => {
    const signature = signatureOf("class Crud<T> { PUT(it: T) {} }", { schemaNames: ["it"] });
    assert.deepEqual(signature.parameters[0]!.type, { kind: "unreadable", text: "T" });
  });
  test("the method's own type parameter may have the same name", () => {
    const signature = signatureOf("class Crud<T> { PUT<T extends string>(it: T) {} }");
    assert.deepEqual(signature.parameters[0]!.type, { kind: "string" });
  });
  test("a return type may name it, because return types are only documented", () => {
    const signature = signatureOf("class Crud<T> { GET(): T {} }");
    assert.deepEqual(signature.returns, { kind: "unreadable", text: "T" });
  });
});

suite("invalid parameters", () => {
  const rows: readonly (readonly [method: string, message: RegExp])[] = [
    ["GET({ a }: { a: 1 }, id: number)", /last parameter/],
    ["GET([a]: [string])", /last parameter/],
    ["GET(...[a, b]: [string, string])", /needs a name/],
    ["GET(...a: [string, string])", /must be a list/],
    ["GET({ a }: string)", /must be an object type/],
    ["GET({ ['a' + 'b']: x })", /must be a literal/],
  ];
  for (const [method, message] of rows) {
    test(method, () => {
      assert.throws(() => signatureOf(`class A { ${method} {} }`), { code: "UNREADABLE_PARAMETER", message });
    });
  }
  test("a default without a type", () => {
    const text = "const f = () => 1; class A { GET(page = f()) {} }";
    assert.throws(() => signatureOf(text), {
      code: "UNREADABLE_TYPE",
      message: /cannot derive the type from the default `f\(\)`/,
    });
    // A JavaScript file has no types, so the value is text.
    const signature = signatureOf(text, { file: VIRTUAL_FILE.replace(/ts$/, "js") });
    assert.deepEqual(signature.parameters[0]!.type, { kind: "untyped" });
  });
  test("a default that names a constant has the constant's type", () => {
    const text = 'import { PAGE_SIZE } from "./models.ts"; class A { GET(page = PAGE_SIZE) {} }';
    assert.deepEqual(signatureOf(text).parameters[0]!.type, { kind: "number" });
  });
});

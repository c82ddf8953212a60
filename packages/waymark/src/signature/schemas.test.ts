import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { type } from "arktype";
import * as v from "valibot";
import { z } from "zod";
import type { SchemaTable, StandardSchema } from "./bind/standard-schema.ts";
import { binderOf, bound, faultsOf, form, input, json, plain } from "./support.fixture.ts";

function bind(method: string, schemas: SchemaTable, request = input(""), declarations = "") {
  return bound(binderOf(method, declarations, { schemas }), request);
}

/** A schema that validates asynchronously. */
function later(schema: StandardSchema): StandardSchema {
  return {
    "~standard": {
      version: 1,
      vendor: "test",
      validate: async (value) => {
        await Promise.resolve();
        return schema["~standard"].validate(value);
      },
    },
  };
}

suite("a schema replaces a type", () => {
  const id = z.coerce.number().int();
  test("a positional has the type of its schema", () => {
    assert.deepEqual(bind("GET(id: number)", { id }, input("12")), [12]);
    assert.match(
      (bind("GET(id: number)", { id }, input("1.5")) as string[])[0]!,
      /^400 path\.id Invalid input/,
    );
  });
  test("a positional that is filled by its name has the type of its schema", () => {
    assert.deepEqual(bind("GET(id: number)", { id }, input("?id=12")), [12]);
    assert.match((bind("GET(id: number)", { id }, input("?id=x")) as string[])[0]!, /^400 query\.id /);
  });
  test("a missing positional is a 404 unless the schema has a default or the type is optional", () => {
    assert.deepEqual(bind("GET(id: string)", { id: z.string() }, input("")), ["404 path.id is required"]);
    assert.deepEqual(bind("GET(id: string)", { id: z.string().default("x") }, input("")), ["x"]);
    assert.deepEqual(bind("GET(id?: string)", { id: z.string() }, input("")), [undefined]);
    assert.equal(binderOf("GET(id: string)", "", { schemas: { id: z.string().default("x") } }).minimum, 0);
  });
  test("a keyword has the type of its schema", () => {
    const schemas = { page: z.coerce.number().min(1).default(1) };
    const method = "GET({ page, size }: { page: number; size?: number })";
    assert.deepEqual(bind(method, schemas, input("?page=2")), [{ page: 2 }]);
    assert.deepEqual(bind(method, schemas, input("")), [{ page: 1 }]);
    assert.deepEqual(bind(method, schemas, input("?page=0&size=x")), [
      "400 query.size must be a number",
      "400 query.page Too small: expected number to be >=1",
    ]);
  });
  test("a missing keyword is a 400 unless the schema or the type is optional", () => {
    assert.deepEqual(bind("GET({ a }: { a: string })", { a: v.string() }), ["400 query.a is required"]);
    assert.deepEqual(bind("GET({ a }: { a?: string })", { a: v.string() }), [{}]);
    assert.deepEqual(bind("GET({ a }: { a: string })", { a: z.string().optional() }), [{}]);
  });
  test("schemas of any vendor work: arktype's are functions", () => {
    const id = type("string.integer.parse");
    assert.deepEqual(bind("GET(id: number)", { id }, input("12")), [12]);
    assert.match((bind("GET(id: number)", { id }, input("1.5")) as string[])[0]!, /^400 path\.id must be/);
    const schemas = { a: type("string >= 2") };
    assert.deepEqual(bind("GET({ a }: { a: string })", schemas, input("?a=xy")), [{ a: "xy" }]);
    assert.match(
      (bind("GET({ a }: { a: string })", schemas, input("?a=x")) as string[])[0]!,
      /^400 query\.a must be/,
    );
  });
  test("the schema of a repeated name gets the list", () => {
    assert.deepEqual(bind("GET({ a })", { a: v.array(v.string()) }, input("?a=1&a=2")), [{ a: ["1", "2"] }]);
  });
  test("the schema of a JSON value gets the unconverted value", () => {
    const schemas = { at: z.object({ x: z.number() }) };
    assert.deepEqual(bind("POST({ at })", schemas, input("", json({ at: { x: 1 } }))), [{ at: { x: 1 } }]);
    const faults = bind("POST({ at })", schemas, input("", json({ at: { x: "1" } }))) as string[];
    assert.match(faults[0]!, /^400 body\.at\.x Invalid input/);
  });
  test("the schema of an upload gets a File", async () => {
    const file = { filename: "a", type: "text/plain", bytes: new Uint8Array([104, 105]) };
    const result = binderOf("POST({ it })", "", { schemas: { it: z.file().max(2) } }).bind(
      input("", form(["it", file])),
    );
    assert.equal(await (plain(result) as { it: File }[])[0]!.it.text(), "hi");
  });
  test("a schema applies to one name of the rest object", () => {
    assert.deepEqual(bind("GET({ ...rest })", { n: z.coerce.number() }, input("?n=1&m=2")), [
      { n: 1, m: "2" },
    ]);
  });
  test("a schema applies to the rest element as a whole", () => {
    const ids = v.pipe(v.array(v.pipe(v.string(), v.transform(Number), v.number())), v.maxLength(2));
    assert.deepEqual(bind("GET(...ids: number[])", { ids }, input("1/2")), [1, 2]);
    assert.match(
      (bind("GET(...ids: number[])", { ids }, input("1/2/3")) as string[])[0]!,
      /^400 path\.ids Invalid length/,
    );
    assert.match(
      (bind("GET(...ids: number[])", { ids }, input("1/x")) as string[])[0]!,
      /^400 path\.ids\[1\] /,
    );
  });
});

suite("a schema validates the keyword object as a whole", () => {
  const book = z.object({ title: z.string(), pages: z.coerce.number().int().optional() });
  const declarations = "const Book = z.object({}); ";
  const methods = [
    ["by its name", "POST(book: { title: string })"],
    ["with a type that cannot be read", "POST(book: z.infer<typeof Book>)"],
    ["without a type", "POST(book)"],
  ] as const;
  for (const [name, method] of methods) {
    test(name, () => {
      assert.deepEqual(bind(method, { book }, input("?pages=3", json({ title: "x" })), declarations), [
        { title: "x", pages: 3 },
      ]);
      assert.deepEqual(bind(method, { book }, input("?pages=x", json({ title: 1 })), declarations), [
        "400 body.title Invalid input: expected string, received number",
        "400 query.pages Invalid input: expected number, received NaN",
      ]);
      assert.deepEqual(bind(method, { book }, input(""), declarations), [
        "400 body.title Invalid input: expected string, received undefined",
      ]);
    });
  }
  test("the type may be inferred from a schema of the real library", () => {
    const imports =
      'import { z } from "zod"; import * as v from "valibot"; const Book = z.object({ title: z.string() });';
    for (const type of ["z.infer<typeof Book>", "z.output<typeof Book>", "v.InferOutput<typeof Book>"]) {
      assert.deepEqual(bind(`POST(book: ${type})`, { book }, input("?title=x"), imports), [{ title: "x" }]);
      assert.throws(() => binderOf(`POST(book: ${type})`, imports), { code: "UNREADABLE_TYPE" });
    }
  });
  test("the body may repeat the name of a positional", () => {
    const schemas = { book: v.object({ id: v.number(), title: v.string() }) };
    assert.deepEqual(
      bind(
        "PUT(id: number, book: { id: number; title: string })",
        schemas,
        input("1", json({ id: 2, title: "x" })),
      ),
      [1, { id: 2, title: "x" }],
    );
  });
  test("an absent optional object is undefined", () => {
    assert.deepEqual(bind("POST(book?: { title: string })", { book }), [undefined]);
  });
  test("a schema of text leaves an untyped parameter positional", () => {
    assert.deepEqual(bind("GET(name)", { name: z.string().toUpperCase() }, input("x")), ["X"]);
  });
  test("an issue of the object itself is a fault without a name", () => {
    const schemas = {
      book: z
        .object({ a: z.string().optional(), b: z.string().optional() })
        .refine((it) => it.a || it.b, "a or b"),
    };
    assert.deepEqual(bind("GET(book: { a?: string; b?: string })", schemas), ["400 query. a or b"]);
  });
});

suite("a schema may be asynchronous", () => {
  test("the arguments are a promise", async () => {
    const binder = binderOf("GET(id: number, { page }: { page?: number })", "", {
      schemas: { id: later(z.coerce.number()), page: later(z.coerce.number().min(1)) },
    });
    const promise = binder.bind(input("1?page=2"));
    assert.ok(promise instanceof Promise);
    assert.deepEqual(plain(await promise), [1, { page: 2 }]);
  });
  test("all faults are reported together", async () => {
    const binder = binderOf("GET(id: number, { page, size }: { page?: number; size: number })", "", {
      schemas: { id: later(z.coerce.number()), page: later(z.coerce.number().min(1)) },
    });
    assert.deepEqual(faultsOf(await binder.bind(input("x?page=0&size=y"))), [
      "400 query.size must be a number",
      "400 path.id Invalid input: expected number, received NaN",
      "400 query.page Too small: expected number to be >=1",
    ]);
  });
  test("the result of one request does not reach the next one", async () => {
    const binder = binderOf("POST(book)", "", { schemas: { book: later(z.object({ a: z.string() })) } });
    const [first, second] = await Promise.all([
      binder.bind(input("?a=1")),
      binder.bind(input("", json({ a: 2 }))),
    ]);
    assert.deepEqual(plain(first), [{ a: "1" }]);
    assert.deepEqual(faultsOf(second), ["400 body.a Invalid input: expected string, received number"]);
  });
  test("a schema that throws is the application's error", async () => {
    const failing: StandardSchema = {
      "~standard": { version: 1, vendor: "test", validate: () => Promise.reject(new Error("down")) },
    };
    const binder = binderOf("GET(id: string)", "", { schemas: { id: failing } });
    await assert.rejects(Promise.resolve(binder.bind(input("x"))), /down/);
  });
  test("a schema that throws synchronously leaves no data for the next request", () => {
    let broken = true;
    const schema: StandardSchema = {
      "~standard": {
        version: 1,
        vendor: "test",
        validate: (value) => {
          if (broken && value !== undefined) throw new Error("down");
          return { value };
        },
      },
    };
    const binder = binderOf("GET({ a, b }: { a?: string; b?: string })", "", { schemas: { a: schema } });
    assert.throws(() => binder.bind(input("?a=1&b=2")), /down/);
    broken = false;
    assert.deepEqual(bound(binder, input("?a=1")), [{ a: "1" }]);
  });
});

suite("a schema without an argument prevents startup", () => {
  const rows: readonly (readonly [method: string, message: RegExp])[] = [
    [
      "GET(id: number)",
      /static schema has a schema for "nope", which is not an argument of GET; its arguments are id/,
    ],
    ["GET(id: number, { a }: { a: string })", /its arguments are id, a/],
    ["GET()", /it has no arguments/],
  ];
  for (const [method, message] of rows) {
    test(method, () => {
      assert.throws(() => binderOf(method, "", { schemas: { nope: z.string() } }), {
        code: "UNKNOWN_SCHEMA_KEY",
        message,
      });
    });
  }
});

suite("a schema covers only its own argument", () => {
  test("other types apply beside an unreadable property", () => {
    const method = "POST({ a, b }: { a: Map<string, string>; b: number })";
    assert.deepEqual(bind(method, { a: z.string() }, input("?a=x&b=y")), ["400 query.b must be a number"]);
    assert.throws(() => binderOf(method, "", { schemas: { b: z.number() } }), { code: "UNREADABLE_TYPE" });
  });
  test("a pattern with an unreadable type needs schemas for all of its names, or one for the whole", () => {
    const method = "POST({ a, b }: Nowhere)";
    const [a, b] = [z.string(), z.coerce.number()];
    assert.deepEqual(bind(method, { a, b }, input("?a=x&b=1")), [{ a: "x", b: 1 }]);
    assert.deepEqual(bind(method, { keywords: z.object({ a, b }) }, input("?a=x&b=1")), [{ a: "x", b: 1 }]);
    assert.throws(() => binderOf(method, "", { schemas: { a } }), { code: "UNREADABLE_TYPE" });
    assert.throws(() => binderOf("POST({ a, ...rest }: Nowhere)", "", { schemas: { a } }), {
      code: "UNREADABLE_TYPE",
    });
  });
  test("a schema of the whole object also covers its unreadable property", () => {
    const book = z.object({ a: z.string(), b: z.coerce.number() });
    const method = "PUT(b: number, book: { a: Map<string, string>; b: number })";
    assert.deepEqual(bind(method, { book }, input("1?a=x&b=2")), [1, { a: "x", b: 2 }]);
  });
});

/**
 * Duplicate members are rejected in every JSON that fills arguments: the body, and JSON within a query, form or path.
 */
import assert from "node:assert/strict";
import { before, test } from "node:test";
import { Application, Controller } from "@tollway/waymark";
import fc from "fast-check";

class Default extends Controller {
  GET({ at, points }: { at?: { x: number; y: number[] }; points?: { x: number }[] }) {
    return { at, points };
  }
  POST({ ...fields }: Record<string, unknown>) {
    return fields;
  }
}

class Any extends Controller {
  PUT(body: unknown) {
    return body;
  }
}

class Raw extends Controller {
  async POST() {
    return (await this.bytes()).length;
  }
}

class Loose extends Controller {
  static override unknownKeywords = "ignore" as const;
  static override alwaysJson = true;
  POST({ a = 0 }: { a?: number }) {
    return a;
  }
}

/** Its bodies need no conversion: one pass checks types and counts members. */
class Whole extends Controller {
  POST(it: { text?: string; list?: { text?: string; number?: number; other?: string }[] }) {
    return it;
  }
}

const application = new Application({ controllers: { Default, Any, Raw, Loose, Whole } });
before(() => application.ready());

interface Problem {
  readonly detail: string;
  readonly errors: readonly { readonly in: string; readonly name: string; readonly message: string }[];
}

function send(method: string, path: string, body: string, type = "application/json") {
  return application.fetch(
    new Request(`http://x${path}`, { method, body, headers: { "content-type": type } }),
  );
}

test("a duplicate member in a body is a fault", async () => {
  const rows: readonly (readonly [
    method: string,
    path: string,
    body: string,
    name: string,
    detail: RegExp,
  ])[] = [
    ["POST", "/", '{"a":1,"a":2}', "a", /"a" twice, at line 1, column 8/],
    ["POST", "/", '{"a":1,\n "\\u0061":1}', "a", /"a" twice, at line 2, column 2/],
    [
      "POST",
      "/",
      '{"a":{"b":[{},{"c":1,"c":1}]}}',
      "a.b[1].c",
      /"c" twice in a\.b\[1\], at line 1, column 22/,
    ],
    ["POST", "/", '{"":1,"":2}', "", /"" twice/],
    ["PUT", "/any", '[{"a":1,"a":1}]', "[0].a", /"a" twice in \[0\]/],
    ["POST", "/loose", '{"b":1,"b":2}', "b", /"b" twice/],
    ["POST", "/whole", '{"text":"a","text":"b"}', "text", /"text" twice, at line 1, column 13/],
    ["POST", "/whole", '{"text":1,"text":2}', "text", /"text" twice/],
    ["POST", "/whole", '{"x":{"y":1,"y":1}}', "x.y", /"y" twice in x/],
    [
      "POST",
      "/whole",
      '{"list":[{"text":"http://a:1"},{"number":1,"number":2}]}',
      "list[1].number",
      /"number" twice in list\[1\]/,
    ],
  ];
  for (const [method, path, body, name, detail] of rows) {
    const answer = await send(method, path, body);
    assert.equal(answer.status, 400, body);
    const problem = (await answer.json()) as Problem;
    assert.match(problem.detail, detail, body);
    const [fault, ...others] = problem.errors;
    assert.deepEqual([fault!.in, fault!.name, others], ["body", name, []]);
    assert.match(fault!.message, /must be given only once/);
  }
  const other = await send("POST", "/loose", '{"a":1,"a":2}', "text/plain");
  assert.equal(other.status, 400);
  const suffixed = await send("POST", "/", '{"a":1,"a":2}', "application/merge-patch+json");
  assert.equal(suffixed.status, 400);
});

test("a duplicate member in JSON within a query or a form is a fault", async () => {
  const rows: readonly (readonly [query: string, name: string, message: string])[] = [
    ['at={"x":1,"x":2,"y":[]}', "at", 'has the member "x" twice, at line 1, column 8 of the JSON text'],
    ['points={"x":1,"x":1}', "points", 'has the member "x" twice, at line 1, column 8 of the JSON text'],
    [
      'points={"x":1}&points={"x":1,"x":1}',
      "points[1]",
      'has the member "x" twice, at line 1, column 8 of the JSON text',
    ],
  ];
  for (const [query, name, message] of rows) {
    const answer = await application.fetch(new Request(`http://x/?${encodeURI(query)}`));
    assert.equal(answer.status, 400, query);
    const { errors } = (await answer.json()) as Problem;
    assert.deepEqual(errors, [{ in: "query", name, message }]);
  }
});

test("names that differ in case or place are different members, and an unread body is not checked", async () => {
  const body = '{"a":1,"A":2,"b":{"a":3},"text":"{\\"a\\":1,\\"a\\":2}"}';
  assert.equal((await send("POST", "/", body)).status, 200);
  assert.equal((await send("POST", "/raw", '{"a":1,"a":2}')).status, 200);
  const query = `at=${encodeURIComponent('{"x":1,"y":[1,2]}')}`;
  assert.equal((await application.fetch(new Request(`http://x/?${query}`))).status, 200);
});

/** An object as a list of members, so that names may repeat. */
type Members = readonly (readonly [name: string, value: string])[];

const string = fc
  .string({ unit: fc.constantFrom('"', "\\", ":", ",", "{", "}", " ", "a", "é", "\u{1f600}"), maxLength: 8 })
  .map((text) => JSON.stringify(text));
const space = fc.constantFrom("", "", " ", "\n\t ");

/** `"text"`, with or without an escape. */
const notation = (name: string) =>
  fc.constantFrom(`"${name}"`, `"\\u00${name.charCodeAt(0).toString(16)}${name.slice(1)}"`);

const item: fc.Arbitrary<Members> = fc.array(
  fc.oneof(
    fc.tuple(notation("text"), string),
    fc.tuple(notation("number"), fc.constantFrom("0", "-1.5", "1e3")),
    fc.tuple(notation("other"), string),
  ),
  { maxLength: 3 },
);

function write(members: Members, gap: string): string {
  return `{${gap}${members.map(([name, value]) => `${name}${gap}:${gap}${value}`).join(`${gap},${gap}`)}${gap}}`;
}

function repeats(members: Members): boolean {
  return new Set(members.map(([name]) => JSON.parse(name))).size < members.length;
}

test("a body that fits its type is refused if and only if a member is a duplicate", async () => {
  const members = fc.array(
    fc.oneof(
      fc.record({ name: notation("text"), value: string }),
      fc.record({ name: notation("list"), items: fc.array(item, { maxLength: 3 }) }),
    ),
    { maxLength: 3 },
  );
  let refused = 0;
  await fc.assert(
    fc.asyncProperty(members, space, async (parts, gap) => {
      const items = parts.flatMap((part) => ("items" in part ? part.items : []));
      const outer = parts.map((part): readonly [string, string] => [
        part.name,
        "items" in part ? `[${part.items.map((each) => write(each, gap)).join()}]` : part.value,
      ]);
      const text = write(outer, gap);
      const answer = await send("POST", "/whole", text);
      const isRefused = repeats(outer) || items.some(repeats);
      assert.equal(answer.status, isRefused ? 400 : 200, text);
      if (!isRefused) assert.deepEqual(await answer.json(), JSON.parse(text));
      else {
        refused++;
        assert.match(((await answer.json()) as Problem).detail, /twice/);
      }
    }),
    { numRuns: 500 },
  );
  assert.ok(refused > 50, `only ${refused} had a duplicate`);
});

test("depth and keys are checked for every body, whatever its type", async () => {
  const rows: readonly (readonly [body: string, detail: RegExp])[] = [
    [`{"text":${"[".repeat(1_001)}${"]".repeat(1_001)}}`, /nested more than 1000 levels deep/],
    [
      `{"text":"a","x":${'{"x":'.repeat(100_000)}1${"}".repeat(100_001)}`,
      /nested more than 1000 levels deep/,
    ],
    ['{"text":"a","__proto__":{}}', /key "__proto__"/],
    ['{"list":[{"\\u005f_proto__":1}]}', /key "__proto__"/],
    ['{"text":"a",}', /not valid JSON/],
  ];
  for (const [body, detail] of rows)
    for (const path of ["/whole", "/"]) {
      const answer = await send("POST", path, body);
      assert.equal(answer.status, 400, body.slice(0, 100));
      assert.match(((await answer.json()) as Problem).detail, detail);
    }
});

/**
 * Duplicate members are rejected in every JSON that fills arguments: the body, and JSON within a query, form or path.
 */
import assert from "node:assert/strict";
import { before, test } from "node:test";
import { Application, Controller } from "@tollway/waymark";

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

const application = new Application({ controllers: { Default, Any, Raw, Loose } });
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

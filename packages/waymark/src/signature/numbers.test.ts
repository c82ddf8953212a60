/** Numbers follow one rule in every place: as text, in a JSON body, and in JSON within a query. */
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { Application, Controller } from "@tollway/waymark";
import fc from "fast-check";
import { BindFaults } from "./bind/bind-faults.ts";
import type { Binder } from "./bind/binder.ts";
import type { BindInput } from "./model/input.ts";
import { binderOf, faultsOf } from "./support.fixture.ts";

const top = binderOf("POST({ it }: { it: number })");
const nested = binderOf("POST({ it }: { it: { n: number } })");
const list = binderOf("POST({ it }: { it: number[][] })");

function jsonBody(text: string): BindInput["body"] {
  const source = new TextEncoder().encode(text);
  return { kind: "json", value: JSON.parse(text), source };
}
function bind(binder: Binder, query: string, body?: BindInput["body"]) {
  return binder.bind({ segments: [], query, body });
}
function bindingOf(result: unknown): unknown {
  if (result instanceof BindFaults)
    return faultsOf(result).map((fault) => fault.replace(/^.*? must/, "must"));
  const [{ it }] = result as [{ it: unknown }];
  return it;
}

/** The results of one number in every place of a request. */
function everywhere(text: string): unknown[] {
  const encoded = encodeURIComponent;
  const results = [
    bindingOf(bind(top, `it=${encoded(text)}`)),
    bindingOf(bind(top, "", { kind: "form", fields: [["it", text]] })),
    bindingOf(bind(top, "", jsonBody(`{"it":${text}}`))),
    bindingOf(bind(nested, `it=${encoded(`{"n":${text}}`)}`)),
    bindingOf(bind(nested, "", jsonBody(`{"it":{"n":${text}}}`))),
    bindingOf(bind(list, `it=${encoded(`[${text}]`)}`)),
    bindingOf(bind(list, "", jsonBody(`{"it":[[${text}]]}`))),
  ];
  return results.map((result) => {
    if (Array.isArray(result) && typeof result[0] === "string") return "refused";
    if (Array.isArray(result)) return (result as number[][])[0]![0];
    return typeof result === "object" ? (result as { n: number }).n : result;
  });
}

const TAKEN = [
  "0",
  "-0",
  "1",
  "1.5",
  "9007199254740991",
  "-9007199254740991",
  "1e20",
  "-1E+20",
  "1.5e300",
  "1e21",
];
const TAKEN_TOO = [
  "9007199254740993.0",
  "123456789012345678901234.5",
  "0.1234567890123456789",
  "1e-7",
  "5e-324",
];
const REFUSED = [
  "9007199254740992",
  "-9007199254740992",
  "9007199254740993",
  "100000000000000000000",
  "1000000000000000000000",
  `1${"0".repeat(300)}`,
  "1e999",
  "9".repeat(400),
];

suite("a number is an IEEE 754 double; an integer in full notation must be exact", () => {
  for (const text of [...TAKEN, ...TAKEN_TOO]) {
    test(`${text} is accepted`, () => {
      assert.deepEqual(everywhere(text), new Array(7).fill(Number(text)));
    });
  }
  for (const text of REFUSED) {
    test(`${text.slice(0, 30)} is rejected`, () => {
      assert.deepEqual(everywhere(text), new Array(7).fill("refused"));
    });
  }
  test("the fault gives the reason", () => {
    const body = jsonBody('{"it":100000000000000000000}');
    assert.deepEqual(faultsOf(bind(top, "", body)), [
      "400 body.it is too large an integer to be exact: it must be within ±9007199254740991",
    ]);
    assert.deepEqual(faultsOf(bind(top, "it=100000000000000000000")), [
      "400 query.it is too large an integer to be exact: it must be within ±9007199254740991",
    ]);
    assert.deepEqual(faultsOf(bind(top, "it=1e999")), ["400 query.it is too large a number"]);
    assert.deepEqual(faultsOf(bind(top, "", jsonBody('{"it":1e999}'))), [
      "400 body.it is too large a number",
    ]);
  });
  test("digits within a string of the document are ignored", () => {
    const body = jsonBody('{"id":"100000000000000000000 \\"100000000000000000000","it":1e20}');
    const binder = binderOf("POST({ it, id }: { it: number; id: string })");
    assert.ok(Array.isArray(bind(binder, "", body)));
  });
  test("requests are independent", () => {
    assert.ok(bind(top, "", jsonBody('{"it":100000000000000000000}')) instanceof BindFaults);
    assert.ok(Array.isArray(bind(top, "", jsonBody('{"it":1e20}'))));
  });

  const digits = fc.string({ unit: fc.constantFrom(..."0123456789"), maxLength: 25 });
  const sign = fc.constantFrom("", "-");
  const exponent = fc.oneof(
    fc.constant(""),
    fc
      .tuple(fc.constantFrom("e", "E"), fc.constantFrom("", "+", "-"), fc.nat(330))
      .map((parts) => parts.join("")),
  );
  const fraction = fc.oneof(
    fc.constant(""),
    digits.map((text) => `.${text}0`),
  );
  const integer = fc.tuple(fc.integer({ min: 1, max: 9 }), digits).map((parts) => parts.join(""));
  const number = fc.tuple(sign, integer, fraction, exponent).map((parts) => parts.join(""));
  test("a number has the same result in every place", () => {
    fc.assert(
      fc.property(number, (text) => {
        const results = everywhere(text);
        assert.deepEqual(results, new Array(results.length).fill(results[0]), text);
      }),
      { numRuns: 1_000 },
    );
  });
});

test("an application reads the body's text", async () => {
  class Default extends Controller {
    POST({ it }: { it: number }) {
      return it;
    }
  }
  const application = new Application({ controllers: { Default } });
  const ask = async (body: string) => {
    const headers = { "content-type": "application/json" };
    const answer = await application.fetch(new Request("http://x/", { method: "POST", body, headers }));
    return answer.status === 200 ? await answer.json() : answer.status;
  };
  assert.deepEqual(
    [await ask('{"it":1e20}'), await ask('{"it":100000000000000000000}'), await ask('{"it":1e21}')],
    [1e20, 400, 1e21],
  );
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { Controller, type Exchange } from "@tollway/waymark";
import { requestId } from "@tollway/waymark/kit";
import { applicationWith, ask } from "./support.fixture.ts";

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

test("every answer has the id that its controller sees", async () => {
  const ids = requestId();
  class Default extends Controller {
    readonly id = ids.of(this);
    GET() {
      return [this.id, ids.of(this)];
    }
  }
  const application = applicationWith([ids], { Default });
  const seen = new Set<string>();
  for (const path of ["/", "/", "/no/such/path"]) {
    const response = await ask(application, path);
    const id = response.headers.get("x-request-id")!;
    assert.match(id, UUID);
    seen.add(id);
    if (response.status === 200) assert.deepEqual(await response.json(), [id, id]);
  }
  assert.equal(seen.size, 3);
});

test("every id is a UUID of its own, also after the first batch", () => {
  const ids = requestId();
  const made = Array.from({ length: 200 }, () => ids.of({ incoming: {} } as Exchange));
  for (const id of made) assert.match(id, UUID);
  assert.equal(new Set(made).size, made.length);
});

test("a client's id counts only if it is trusted and harmless", async () => {
  const rows: [boolean, string, boolean][] = [
    [true, "abc-1.2:3/4+5=6@7_8", true],
    [true, "a".repeat(128), true],
    [true, "a".repeat(129), false],
    [true, 'a" status=200', false],
    [true, "a b", false],
    [true, "\u00e9", false],
    [false, "abc", false],
  ];
  for (const [trust, given, isTaken] of rows) {
    const application = applicationWith([requestId({ trust, generate: () => "made" })]);
    const response = await ask(application, "/", { headers: { "x-request-id": given } });
    assert.equal(response.headers.get("x-request-id"), isTaken ? given : "made", given);
  }
});

test("a wrong name of the header is an error at the start", () => {
  for (const header of ["", "x request", "x\nid", "é"]) assert.throws(() => requestId({ header }), TypeError);
});

test("the id replaces a header of the same name", async () => {
  class Default extends Controller {
    GET() {
      this.response.headers.append("x-request-id", "own");
      return 1;
    }
  }
  for (const generate of [undefined, () => "made"]) {
    const application = applicationWith([requestId(generate && { generate })], { Default });
    const id = (await ask(application, "/")).headers.get("x-request-id")!;
    assert.match(id, generate ? /^made$/ : UUID);
  }
});

test("the header can have another name", async () => {
  const application = applicationWith([requestId({ header: "X-Correlation-Id", trust: true })]);
  const response = await ask(application, "/", { headers: { "x-correlation-id": "7" } });
  assert.equal(response.headers.get("x-correlation-id"), "7");
});

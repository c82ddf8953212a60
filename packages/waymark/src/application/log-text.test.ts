import assert from "node:assert/strict";
import { test } from "node:test";
import { Application, Controller } from "@tollway/waymark";
import fc from "fast-check";
import { errorText, escapeControls, plainText } from "./log-text.ts";

test("controls are escaped, and nothing else", () => {
  const rows: [string, string][] = [
    ["plain: ü € 𝒳", "plain: ü € 𝒳"],
    ["a\nb\r\tc", "a\\nb\\r\\tc"],
    ["\x1b[2J\0\x7f\x85", "\\x1b[2J\\x00\\x7f\\x85"],
    ["\u2028\u2029", "\\u2028\\u2029"],
  ];
  for (const [text, escaped] of rows) assert.equal(escapeControls(text), escaped);
});

test("an error shows its message in one line, its frames, its members and its cause", () => {
  const cause = Object.assign(new TypeError("within\nGET /forged"), { code: "E\nX" });
  const text = errorText(new RangeError("a\r\n    at forged (x.ts:1:1)", { cause }));
  const lines = text.split("\n");
  assert.equal(lines[0], "RangeError: a\\r\\n    at forged (x.ts:1:1)");
  assert.match(lines[1]!, /^ {4}at .*log-text\.test\.ts/);
  assert.match(text, /\n {4}\[cause\]: TypeError: within\\nGET \/forged\n/);
  assert.match(text, /\n {8}at .*log-text\.test\.ts/);
  assert.match(text, /\n {8}\{ code: 'E\\nX' \}/);
});

test("a runtime without Node's modules prints values as JSON, and no value throws", () => {
  const circle: { self?: unknown } = {};
  circle.self = circle;
  const rows: [unknown, string][] = [
    [{ code: "E", big: 1n }, '{"code":"E","big":"1n"}'],
    ["text", '"text"'],
    [undefined, "undefined"],
    [Symbol("s"), "Symbol(s)"],
    [circle, "[object Object]"],
  ];
  for (const [value, text] of rows) assert.equal(plainText(value), text);
  assert.equal(plainText("x".repeat(20_000)).length, 10_000);
});

test("a name that changed after the stack was taken is not mistaken for a frame", () => {
  const rows: [message: string, name: string][] = [
    [" ", "at  at "],
    ["", "    at forged"],
    ["x", "x\n    at forged: x"],
    ["\n    at forged", "Name"],
  ];
  for (const [message, name] of rows) {
    const text = errorText(Object.assign(new Error(message), { name }));
    const frames = text.split("\n").slice(1, -1);
    assert.ok(frames.length > 0, text);
    for (const frame of frames) assert.match(frame, /^ {4}at .*(:\d+:\d+\)?|<anonymous>\)?)$/);
  }
});

test("a caller's text never starts a log line", () => {
  const evil = fc.string({ unit: fc.constantFrom("\n", "\r", "\x1b", " ", "at ", "Error: ", "x", "\u2028") });
  fc.assert(
    fc.property(evil, evil, evil, (message, member, thrown) => {
      const errors = [
        Object.assign(new Error(message, { cause: thrown }), { member, inner: new Error(member) }),
        new AggregateError([new Error(member), thrown], message),
        Object.assign(new Error(message), { name: member }),
        { thrown },
        thrown,
      ];
      for (const error of errors) {
        const [first, ...others] = errorText(error).split("\n");
        // biome-ignore lint/suspicious/noControlCharactersInRegex: this is what must not be there
        for (const line of [first!, ...others]) assert.doesNotMatch(line, /[\0-\x1f\x7f-\x9f\u2028\u2029]/);
        for (const line of others) assert.match(line, /^ {4}( *)(at |\{|\[cause\]: )/);
      }
    }),
    { examples: [[" ", "at  at ", ""]] },
  );
});

test("an error that is its own cause is shown once", () => {
  const error = new Error("round");
  error.cause = error;
  assert.ok(errorText(error).split("[cause]").length < 20);
});

test("a caller cannot forge a line of the default log", async (t) => {
  const logged = t.mock.method(console, "error", () => undefined);
  class Default extends Controller {
    GET(...path: string[]): never {
      throw new Error(`no file ${path.join("/")} for ${this.headers.get("x-user")}`);
    }
  }
  const application = new Application({ controllers: { Default } });
  const incoming = new Request("http://localhost/a%0AGET%20%2Fadmin:%20Error", {
    headers: { "x-user": "\x80" },
  });
  assert.equal((await application.fetch(incoming)).status, 500);
  application.report(new Error("x"), { method: "GET", target: "/a\r\nGET /forged: Error" });
  const lines = logged.mock.calls.flatMap(({ arguments: [text] }) => (text as string).split("\n"));
  const heads = lines.filter((line) => !line.startsWith("    "));
  assert.deepEqual(heads, [
    "GET /a%0AGET%20%2Fadmin:%20Error: Error: no file a\\nGET /admin: Error for \\x80",
    "GET /a\\r\\nGET /forged: Error: Error: x",
  ]);
});

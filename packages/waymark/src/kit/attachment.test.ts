import assert from "node:assert/strict";
import { test } from "node:test";
import { attachment } from "@tollway/waymark/kit";
import { assert as holds, property, string } from "fast-check";

test("a download has its name, for old clients and in UTF-8", () => {
  for (const [name, expected] of [
    ["a.txt", `attachment; filename="a.txt"; filename*=UTF-8''a.txt`],
    ['ü".txt', `attachment; filename="__.txt"; filename*=UTF-8''%C3%BC%22.txt`],
    ["a'(*).txt", `attachment; filename="a____.txt"; filename*=UTF-8''a%27%28%2A%29.txt`],
    ["\ud800", `attachment; filename="_"; filename*=UTF-8''%EF%BF%BD`],
  ] as const)
    assert.equal(attachment(name), expected);
});

test("no name adds a parameter or a header", () => {
  holds(
    property(string({ unit: "binary" }), (name) => {
      assert.match(attachment(name), /^attachment; filename="[^"\\;\r\n]*"; filename\*=UTF-8''[\w%.!~-]*$/);
      new Headers({ "content-disposition": attachment(name) });
    }),
  );
});

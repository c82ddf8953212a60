import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { cut, cutParts, sanitise, sortTags, splitTags, tagSuffix } from "./names.ts";

describe("names of statistics", () => {
  const cases: readonly [text: string, safe: string][] = [
    ["key_value", "key_value"],
    ["path_/foo:*:bar", "path_/foo_*_bar"],
    ["remote_address_50.0.0.5", "remote_address_50_0_0_5"],
    ["1.2.3.4.5", "1_2_3_4.5"],
    ["a|b#c@d", "a_b_c_d"],
    ["line\nbreak\r\ttab\0", "line_break__tab_"],
    ["a.b", "a.b"],
    ["", ""],
  ];
  for (const [text, safe] of cases)
    it(`${JSON.stringify(text)} is emitted as ${safe}`, () => assert.equal(sanitise(text), safe));

  it("never ends a line or starts a field of the statsd protocol, whatever the text", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        // biome-ignore lint/suspicious/noControlCharactersInRegex: the test looks for control characters
        assert.doesNotMatch(sanitise(text), /[:|#@\u0000-\u001f]/);
      }),
    );
  });

  it("cuts at whole characters", () => {
    assert.equal(cut("aäöü", 4), "aä");
    assert.equal(cut("short", 5), "short");
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), fc.nat(40), (text, bytes) => {
        const short = cut(text, bytes);
        assert.ok(Buffer.byteLength(short) <= bytes);
        assert.ok(text.startsWith(short));
      }),
    );
  });

  it("cuts a path from its end", () => {
    assert.deepEqual(cutParts(["dom", "level"], 100), ["dom", "level"]);
    assert.deepEqual(cutParts(["dom", "level", "more"], 6), ["dom", "le"]);
    assert.deepEqual(cutParts(["domain", "x"], 3), ["dom"]);
    assert.deepEqual(cutParts(["dom", "", "", "", "x"], 5), ["dom", "", ""]);
  });

  it("sorts tags and makes them safe for a name", () => {
    assert.equal(tagSuffix(sortTags({ foo: "bar", a: "1.2:3|4", empty: "" })), ".__a=1_2_3_4.__foo=bar");
  });

  it("finds tags in a name", () => {
    assert.deepEqual(splitTags("ratelimit.objcache.add.__code=error"), {
      name: "ratelimit.objcache.add",
      tags: [{ key: "code", value: "error" }],
    });
    assert.deepEqual(splitTags("plain.name"), { name: "plain.name", tags: [] });
  });
});

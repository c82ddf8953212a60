import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { uriReference } from "./uri.ts";

test("a reference has only the characters of a URI", () => {
  const rows: [string, string][] = [
    ["/plain/a%20b?x=1&y[]=2#z", "/plain/a%20b?x=1&y[]=2#z"],
    ["/süß", "/s%C3%BC%C3%9F"],
    ["/€?q=ä b#ü", "/%E2%82%AC?q=%C3%A4%20b#%C3%BC"],
    ["/already%C3%BC/ü", "/already%C3%BC/%C3%BC"],
    ["relative/ü", "relative/%C3%BC"],
    ["?ü", "?%C3%BC"],
    ["", ""],
    ["https://bücher.example/ü?ä", "https://xn--bcher-kva.example/%C3%BC?%C3%A4"],
    ["https://example.org:8443/ü", "https://example.org:8443/%C3%BC"],
    ["//bücher.example:81/x", "//xn--bcher-kva.example:81/x"],
    ["//ü@x/", "//%C3%BC@x/"],
    ["/a\r\nset-cookie: x=1", "/a%0D%0Aset-cookie:%20x=1"],
    ["/\\evil.example", "/%5Cevil.example"],
    ["/\ud800", "/%EF%BF%BD"],
    ["mailto:ü@x", "mailto:%C3%BC@x"],
  ];
  for (const [text, expected] of rows) assert.equal(uriReference(text), expected);
});

test("any text becomes a reference that a header can carry, and a second encoding changes nothing", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (text) => {
      const reference = uriReference(text);
      assert.match(reference, /^[!-~]*$/);
      assert.equal(uriReference(reference), reference);
      assert.equal(
        new Response(null, { headers: { location: reference } }).headers.get("location"),
        reference,
      );
    }),
  );
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { CLASS_SEGMENTS } from "./segment-names.fixture.ts";
import { lookUp, segmentOfClass, segmentOfModule } from "./segment-names.ts";

test("a class name becomes its path segment", () => {
  for (const [name, segment] of CLASS_SEGMENTS) assert.equal(segmentOfClass(name), segment, name);
});

test("a module keeps its name except for underscores", () => {
  assert.equal(segmentOfModule("User_list"), "User-list");
});

test("a segment matches with hyphens and with underscores", () => {
  const table = new Map([["foo-bar-baz", 1]]);
  for (const segment of ["foo-bar-baz", "foo_bar_baz", "foo_bar-baz"])
    assert.equal(lookUp(table, segment), 1, segment);
  assert.equal(lookUp(table, "foobarbaz"), undefined);
});

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { maskCredentials } from "./mask.ts";

describe("credentials", () => {
  const cases: readonly [text: string, shown: string][] = [
    ["redis://user:secret@host:6379/0", "redis://*****@host:6379/0"],
    ["rediss://:p@ss/w@ord@host", "rediss://*****@host"],
    [
      "mymaster,redis://a:b@h1:1,redis://c:d@h2:2 and more",
      "mymaster,redis://*****@h1:1,redis://*****@h2:2 and more",
    ],
    ["'http://u:p@proxy' failed", "'http://*****@proxy' failed"],
    ["http://host/path", "http://host/path"],
    ["no url, someone@example.com", "no url, someone@example.com"],
    ["://", "://"],
  ];
  for (const [text, shown] of cases)
    it(`${text} is shown as ${shown}`, () => assert.equal(maskCredentials(text), shown));

  it("are masked in time linear in the text's length", () => {
    const text = "://a".repeat(200_000);
    assert.equal(maskCredentials(text), text);
  });
});

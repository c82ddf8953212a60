import assert from "node:assert/strict";
import { test } from "node:test";
import { wantsEvents } from "./stream.ts";

test("an Accept header requests events only by name", () => {
  const rows: [string | undefined, boolean][] = [
    [undefined, false],
    ["*/*", false],
    ["text/*", false],
    ["text/event-stream", true],
    ["text/html, Text/Event-Stream;q=0.5", true],
    ["text/event-stream;q=0.0", false],
  ];
  for (const [accept, expected] of rows) assert.equal(wantsEvents(accept), expected, String(accept));
});

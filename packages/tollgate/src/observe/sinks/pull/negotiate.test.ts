import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { negotiate } from "./negotiate.ts";

describe("the format of a scrape", () => {
  const cases: readonly [accept: string | undefined, format: string][] = [
    [undefined, "text"],
    ["*/*", "text"],
    ["text/plain", "text"],
    ["application/openmetrics-text", "openmetrics"],
    ["application/openmetrics-text; version=0.0.1", "text"],
    // The header of Prometheus 2.
    [
      "application/openmetrics-text;version=1.0.0;q=0.5,application/openmetrics-text;version=0.0.1;q=0.4,text/plain;version=0.0.4;q=0.3,*/*;q=0.2",
      "openmetrics",
    ],
    ["text/plain;q=0.9, application/openmetrics-text;version=1.0.0;q=0.1", "text"],
    ["application/openmetrics-text;q=0", "text"],
    ["nonsense;;;,,", "text"],
  ];
  for (const [accept, format] of cases)
    it(`${accept} gets ${format}`, () => assert.equal(negotiate(accept), format));
});

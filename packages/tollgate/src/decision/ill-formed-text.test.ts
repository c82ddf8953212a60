import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { createStatistics } from "../observe/registry.ts";
import { decodeRequest } from "../protocol/decode-request.ts";
import { requestFromJson } from "../protocol/json-request.ts";
import { Code, type RateLimitRequest } from "../protocol/messages.ts";
import { WireWriter } from "../protocol/wire.fixture.ts";
import { loadRules } from "../rules/load-rules.ts";
import { MapStore, plainOptions } from "./decide.fixture.ts";
import { Decider } from "./decide.ts";
import { explainDecision } from "./explain-decision.ts";

// Bytes that are not UTF-8, from the wire to every output of the process.

const yaml = `
domain: d
descriptors:
  - key: any
    rate_limit: { unit: day, requests_per_unit: 2 }
    detailed_metric: true
  - key: exact
    value: 'm\\xFF'
    rate_limit: { unit: day, requests_per_unit: 1 }
  - key: wild
    value: 'm*'
    rate_limit: { unit: day, requests_per_unit: 1 }
  - key: wild
    value: 'm\\x*'
    rate_limit: { unit: day, requests_per_unit: 3 }
`;

function setUp(options: Partial<typeof plainOptions> = {}) {
  const { ruleSet, diagnostics } = loadRules([{ name: "d.yaml", text: yaml }], { mergeDomains: false });
  assert.ok(ruleSet !== undefined, JSON.stringify(diagnostics));
  const store = new MapStore();
  const statistics = createStatistics();
  const all = { ...plainOptions, ...options };
  const decider = new Decider(all, statistics, store);
  function decide(request: RateLimitRequest) {
    const answer = decider.decide(decider.prepare(request, ruleSet), 1_000_000, 0);
    assert.ok(!(answer instanceof Promise));
    return structuredClone(answer);
  }
  const explain = (request: RateLimitRequest) => explainDecision(request, ruleSet, store, all, 1_000_000);
  return { decide, explain, store, statistics };
}

/** A request with one descriptor of one entry, decoded from its gRPC message. */
function sent(domain: Uint8Array, key: Uint8Array, value: Uint8Array): RateLimitRequest {
  const entry = new WireWriter().bytes(1, key).bytes(2, value).finish();
  const descriptor = new WireWriter().bytes(1, entry).finish();
  const message = new WireWriter().bytes(1, domain).bytes(2, descriptor).finish();
  return decodeRequest(message, 0, message.length);
}

const d = Buffer.from("d");
const value = Buffer.from("6dfffe", "hex");

test("a value that is not UTF-8 is decided and counted", () => {
  const { decide, store } = setUp();
  const codes = [1, 2, 3].map(() => decide(sent(d, Buffer.from("any"), value)).overallCode);
  assert.deepEqual(codes, [Code.OK, Code.OK, Code.OVER_LIMIT]);
  assert.deepEqual([...store.counters], [["d|any=m%FF%FE|day:0", 3]]);
});

test("a valid text that looks like an escaped one has its own counter", () => {
  const { decide, store } = setUp();
  for (const text of ["m\\xFF\\xFE", "m%FF%FE", "m\ufffd\ufffd"])
    decide(sent(d, Buffer.from("any"), Buffer.from(text)));
  decide(sent(d, Buffer.from("any"), value));
  assert.deepEqual(
    [...store.counters.keys()],
    [
      "d|any=m\\xFF\\xFE|day:0",
      "d|any=m%25FF%25FE|day:0",
      "d|any=m\ufffd\ufffd|day:0",
      "d|any=m%FF%FE|day:0",
    ],
  );
});

test("different values have different counters", () => {
  const bytes = fc
    .array(fc.constantFrom("\\xFF", "%FF", "\ufffd", "é", "\u0085", "m", 0xff, 0xc2, 0x85, 0xc3, 0xa9), {
      maxLength: 4,
    })
    .map((parts) =>
      Buffer.concat(parts.map((part) => (typeof part === "number" ? Buffer.of(part) : Buffer.from(part)))),
    );
  fc.assert(
    fc.property(bytes, bytes, (one, other) => {
      const { decide, store } = setUp();
      decide(sent(d, Buffer.from("any"), one));
      decide(sent(d, Buffer.from("any"), other));
      assert.equal(store.counters.size, one.equals(other) ? 1 : 2);
    }),
    { numRuns: 300 },
  );
});

test("wildcards and rules without a value match it, explicit values do not", () => {
  const { decide } = setUp();
  const limitOf = (key: string, bytes: Uint8Array) =>
    decide(sent(d, Buffer.from(key), bytes)).statuses[0]!.currentLimit?.requestsPerUnit;
  const broken = Buffer.from("6dff", "hex");
  assert.equal(limitOf("exact", broken), undefined);
  assert.equal(limitOf("exact", Buffer.from("m\\xFF")), 1);
  assert.equal(limitOf("any", broken), 2);
  assert.equal(limitOf("wild", broken), 3, "the escaped text is matched");
  assert.equal(limitOf("wild", Buffer.from("mé")), 1);
  assert.equal(decide(sent(value, Buffer.from("any"), broken)).overallCode, Code.OK, "an unknown domain");
  assert.equal(limitOf("any\xff", broken), undefined, "an unknown key");
});

test("statistics, metadata and explanations show the text \\xFF, in valid UTF-8", async () => {
  const { decide, explain, statistics } = setUp({ dynamicMetadata: true });
  const response = decide(sent(d, Buffer.from("any"), value));
  assert.deepEqual(response.dynamicMetadata?.descriptors, [{ entries: ["any=m\\xFF\\xFE"] }]);
  decide(sent(value, Buffer.from("any"), value));
  let names = "";
  for await (const piece of statistics.snapshot()) names += piece;
  assert.match(names, /^ratelimit\.service\.rate_limit\.d\.any_m\\xFF\\xFE\.total_hits: 1$/m);
  assert.match(names, /^ratelimit\.service\.rate_limit\.m\\xFF\\xFE\.domain_not_found: 1$/m);
  for (const key of ["any", "exact", "wild", "none\udcff"]) {
    const json = JSON.stringify(
      await explain(
        requestFromJson({ domain: "d", descriptors: [{ entries: [{ key, value: "m\ud800" }] }] }),
      ),
    );
    assert.match(json, /m\\\\xED\\\\xA0\\\\x80/);
    assert.doesNotMatch(json, /\\u[dD][89a-fA-F]|\ufffd/);
  }
});

test("an override is counted, and response headers hold ASCII only", () => {
  const { decide, store } = setUp({
    headers: { format: "draft-10", limit: "", remaining: "", reset: "" },
  });
  const request = sent(d, value, value);
  const [descriptor] = request.descriptors;
  const limit = { requestsPerUnit: 1, unit: 4 };
  const { responseHeadersToAdd } = decide({ ...request, descriptors: [{ ...descriptor!, limit }] });
  assert.deepEqual([...store.counters.keys()], ["d|m%FF%FE=m%FF%FE|day:0"]);
  for (const { value: text } of responseHeadersToAdd) assert.match(text, /^[\x20-\x7e]+$/);
});

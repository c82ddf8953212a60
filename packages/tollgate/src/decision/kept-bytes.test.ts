import assert from "node:assert/strict";
import { test } from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { EmbeddedStore } from "../counters/embedded/embedded-store.ts";
import { createStatistics } from "../observe/registry.ts";
import { decodeRequest } from "../protocol/decode-request.ts";
import { encodeRequest } from "../protocol/encode-request.ts";
import type { RateLimitRequest } from "../protocol/messages.ts";
import { loadRules } from "../rules/load-rules.ts";
import { plainOptions } from "./decide.fixture.ts";
import { Decider } from "./decide.ts";
import { PreparedCache } from "./prepared-cache.ts";
import { ResolutionCache } from "./resolution-cache.ts";
import { resolve } from "./resolve.ts";

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

/** Bytes in use after a garbage collection, inside and outside of V8's heap. */
function memory(): number {
  collectGarbage();
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

const YAML = "domain: d\ndescriptors:\n  - { key: k, rate_limit: { unit: day, requests_per_unit: 9 } }\n";
const ruleSet = loadRules([{ name: "d.yaml", text: YAML }], { mergeDomains: false }).ruleSet!;

interface Shape {
  readonly domain?: string;
  readonly descriptors?: number;
  readonly entries?: number;
  readonly own?: true;
  /** Each value is padded to this many of these characters. */
  readonly fill?: readonly [length: number, character: string];
}

/** A request of a shape; a different one for each seed. */
function requestOf(shape: Shape, number: number): RateLimitRequest {
  const { domain = "d", descriptors = 1, entries = 1, own, fill = [0, "x"] } = shape;
  return {
    domain: entries === 0 ? domain + number : domain,
    hitsAddend: 0,
    descriptors: Array.from({ length: descriptors }, (_, one) => ({
      entries: Array.from({ length: entries }, (_, two) => ({
        key: "k",
        value: `${number}.${one}.${two}`.padEnd(...fill),
      })),
      limit: own && { requestsPerUnit: 5, unit: 2 },
      hitsAddend: undefined,
      isNegativeHits: false,
    })),
  };
}

const shapes: Readonly<Record<string, Shape>> = {
  "one short descriptor": {},
  "six descriptors": { descriptors: 6, fill: [20, "x"] },
  "a long value": { fill: [450, "x"] },
  "a value of two bytes a character": { fill: [150, "世"] },
  "white space, which a cache key encodes in nine characters": { fill: [150, "\u3000"] },
  "own limits": { descriptors: 8, own: true, fill: [10, "x"] },
  "a long value with an own limit": { own: true, fill: [400, "x"] },
  "many entries": { entries: 30 },
  "many empty descriptors": { domain: "unknown", descriptors: 100, entries: 0 },
};

const KEPT = 3000;

/** Fails unless the values that `fill` keeps take between a quarter and all of the bytes that it returns. */
function assertAccounted(fill: () => { readonly bytes: number }): void {
  const before = memory();
  const cache = fill();
  const used = memory() - before;
  const figures = `${used} bytes used, ${cache.bytes} accounted`;
  assert.ok(used <= cache.bytes * 1.05, figures);
  assert.ok(used >= cache.bytes / 4, figures);
}

for (const [name, shape] of Object.entries(shapes)) {
  const bytesOf = (number: number) => Buffer.from(encodeRequest(requestOf(shape, number)));

  function fillPrepared(): PreparedCache {
    const store = EmbeddedStore.create({ sizeInBytes: 1 << 20, reclaimInterval: 0 });
    const decider = new Decider(plainOptions, createStatistics({ maxDynamicKeys: 1 }), store);
    const cache = new PreparedCache();
    for (let number = 0; number < KEPT; number++) {
      const bytes = bytesOf(number);
      for (let call = 0; call < 3; call++) {
        let prepared = cache.find(ruleSet.generation, bytes, 0, bytes.length);
        if (prepared === undefined) {
          prepared = decider.prepare(decodeRequest(bytes, 0, bytes.length), ruleSet);
          cache.offer(bytes, 0, bytes.length, prepared);
        }
        decider.decide(prepared, 1_000_000, 0);
      }
    }
    return cache;
  }

  function fillResolutions(): ResolutionCache {
    const statistics = createStatistics({ maxDynamicKeys: 1 });
    const cache = new ResolutionCache(KEPT);
    for (let number = 0; number < KEPT; number++) {
      const bytes = bytesOf(number);
      for (let call = 0; call < 2; call++) {
        const { domain, descriptors } = decodeRequest(bytes, 0, bytes.length);
        const descriptor = descriptors[0]!;
        if (cache.find(ruleSet.generation, domain, descriptor) === undefined)
          cache.offer(
            domain,
            descriptor,
            resolve(ruleSet, statistics, plainOptions.keyFormat, domain, descriptor),
          );
      }
    }
    return cache;
  }

  test(`the estimate for prepared requests bounds their memory: ${name}`, () => {
    fillPrepared();
    if (fillPrepared().size > 0) assertAccounted(fillPrepared);
  });

  test(`the estimate for resolutions bounds their memory: ${name}`, () => {
    fillResolutions();
    assertAccounted(fillResolutions);
  });
}

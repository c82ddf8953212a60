import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import fc from "fast-check";
import { createLogger } from "../log.ts";
import { pageOf } from "../page.fixture.ts";
import { createStatistics, type Registry } from "../registry.ts";
import { AgentSink } from "./agent.ts";
import { Flusher } from "./flusher.ts";
import { compileMogrifiers } from "./mogrifier.ts";
import { createOutputSink } from "./output.ts";
import { PushSink } from "./push.ts";
import type { Sink } from "./sink.ts";
import type { Transport } from "./transport.ts";

const quiet = createLogger({ writer: { write: () => {}, flush: async () => {}, dropped: 0 } });
const PREFIX = "ratelimit.service.rate_limit.";
const STAT = ".total_hits";

/** Returns everything that a sink sends, as one text. */
async function sentBy(make: (registry: Registry, send: (text: string) => void) => Sink, registry: Registry) {
  let sent = "";
  const sink = make(registry, (text) => {
    sent += text;
  });
  await new Flusher(registry, sink, { interval: 60_000, log: quiet }).flush();
  return sent;
}

const transport = (send: (text: string) => void): Transport => ({
  ready: true,
  packetBytes: 1432,
  send,
  room: async () => {},
  close: async () => {},
});

/** Each sink, with a function that finds the name of a counter in the sink's output. */
const sinks: Readonly<Record<string, (registry: Registry) => Promise<string>>> = {
  push: async (registry) =>
    nameIn(await sentBy((view, send) => new PushSink(transport(send), view.tags), registry)),
  agent: async (registry) =>
    nameIn(await sentBy((view, send) => new AgentSink(transport(send), view.tags, undefined), registry)),
  "agent with a mogrifier for other names": async (registry) => {
    const mogrify = compileMogrifiers([{ name: "M", pattern: "^nothing$", emit: "x", tags: {} }]);
    return nameIn(await sentBy((view, send) => new AgentSink(transport(send), view.tags, mogrify), registry));
  },
  output: async (registry) => {
    const lines = await sentBy((_, send) => {
      const writer = { dropped: 0, write: send, flush: async () => {} };
      return createOutputSink(registry, { dropped: { value: 0 }, writer });
    }, registry);
    return (JSON.parse(lines.split("\n", 1)[0]!) as { name: string }).name;
  },
  "/stats": async (registry) => {
    const page = await pageOf(registry, { filter: "^ratelimit.service.rate_limit(?s:.*)total_hits$" });
    return page.slice(0, page.lastIndexOf(": "));
  },
};

/** Returns the name of the first statsd line. */
function nameIn(text: string): string {
  return text.slice(0, text.indexOf(":"));
}

const cases: readonly (readonly [value: string, written: string])[] = [
  ["plain", "plain"],
  ["a:b|c#d@e", "a_b_c_d_e"],
  ["white space", "white space"],
  ["a,comma;and=more", "a,comma;and=more"],
  ["10.0.0.1", "10_0_0_1"],
  ["line\r\nend\u2028\u0085\0", "line__end___"],
  ["ä€😀", "ä€😀"],
  ["/path/*?q=%20", "/path/*?q=%20"],
];

describe("all sinks write a name alike", () => {
  const named = (value: string): Registry => {
    const registry = createStatistics();
    registry.rule({ domain: "d", levels: [value] }, true).totalHits = 1;
    return registry;
  };

  for (const [value, written] of cases)
    for (const [sink, nameBy] of Object.entries(sinks))
      it(`${sink}: ${JSON.stringify(value)}`, async () => {
        assert.equal(await nameBy(named(value)), `${PREFIX}d.${written}${STAT}`);
      });

  it("any text of a request has one name in all sinks, without the protocols' reserved characters", async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: "binary", maxLength: 20 }), async (value) => {
        const names = await Promise.all(Object.values(sinks).map((nameBy) => nameBy(named(value))));
        assert.equal(new Set(names).size, 1, names.join("\n"));
        // biome-ignore lint/suspicious/noControlCharactersInRegex: the test looks for control characters
        assert.doesNotMatch(names[0]!, /[:|#@\u0000-\u001f]/);
      }),
      { numRuns: 50 },
    );
  });
});

describe("a mogrified name", () => {
  it("is cached within a bounded number of characters", () => {
    setFlagsFromString("--expose-gc");
    const collectGarbage = runInNewContext("gc") as () => void;
    const mogrify = compileMogrifiers([{ name: "M", pattern: "^(.)", emit: "$1", tags: { all: "$0" } }]);
    const sink = new AgentSink(
      transport(() => {}),
      [],
      mogrify,
    );
    collectGarbage();
    const before = process.memoryUsage().heapUsed;
    for (let index = 0; index < 100_000; index++) {
      const name = Buffer.from(`${index}`.padEnd(900, "x")).toString();
      const series = { firstId: 0, name, stats: [""], tags: [], labels: undefined, read: () => 0 };
      sink.counter(series, 0, 1);
    }
    collectGarbage();
    const used = process.memoryUsage().heapUsed - before;
    // A later use prevents its collection as garbage.
    sink.commit();
    assert.ok(used < 64 * 1024 * 1024, `${used} bytes`);
  });

  it("is sanitised and cut like any other name, and its tags like any other tag", async () => {
    const registry = createStatistics({ tags: { "bad:key": "a|b,c#d e:f" } });
    registry.rule({ domain: "d", levels: ["k"] }, true).totalHits = 1;
    const long = "x".repeat(600);
    const mogrify = compileMogrifiers([
      { name: "M", pattern: "rate_limit", emit: `a:b|c#d@e ${long}`, tags: { "k:1": "v|2,3\n4:5" } },
    ]);
    const sent = await sentBy((view, send) => new AgentSink(transport(send), view.tags, mogrify), registry);
    const line = sent.split("\n", 1)[0]!;
    const name = `a_b_c_d_e ${long}`.slice(0, 512);
    assert.equal(line, `${name}:1|c|#bad_key:a_b_c_d_e:f,k_1:v_2_3_4:5`);
  });
});

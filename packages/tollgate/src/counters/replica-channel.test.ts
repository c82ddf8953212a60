import assert from "node:assert/strict";
import { test } from "node:test";
import { Invalidations, slotOf } from "./invalidations.ts";
import { type OpenChannel, ReplicaChannel } from "./replica-channel.ts";

interface Bus {
  readonly open: OpenChannel;
  readonly sent: string[];
  /** Receives what is sent. */
  deliver(text: string): void;
  live(): void;
  lost(reason: string): void;
  /** Lets the next attempts to publish fail. */
  failures: number;
}

function newBus(): Bus {
  let events: Parameters<OpenChannel>[0] | undefined;
  const bus: Bus = {
    sent: [],
    failures: 0,
    open(given) {
      events = given;
      return {
        async publish(text) {
          if (bus.failures-- > 0) throw new Error("cut");
          bus.sent.push(text);
        },
        close() {},
      };
    },
    deliver: (text) => events!.message(text),
    live: () => events!.live(),
    lost: (reason) => events!.lost(reason),
  };
  return bus;
}

/** A channel and its stores' table, and which of three stems a step invalidated. */
function setUp(onOverrides = () => {}) {
  const bus = newBus();
  const lines: string[] = [];
  const invalidations = new Invalidations();
  const log = {
    warn: (line: string) => void lines.push(line),
    info: (line: string) => void lines.push(line),
  };
  const channel = new ReplicaChannel({
    invalidations,
    open: bus.open,
    revalidate: 3_600_000,
    log,
    onOverrides,
  });
  const stems = ["a:", "b:", "c:"];
  const dropped = (step: () => void) => {
    const before = stems.map((stem) => invalidations.mark(slotOf(stem)));
    step();
    return stems.filter((stem, index) => invalidations.mark(slotOf(stem)) !== before[index]);
  };
  return { bus, channel, dropped, lines };
}

async function turns(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await new Promise(setImmediate);
}

test("one message names all slots of a turn, and drops their entries in the other process only", async () => {
  const one = setUp();
  const two = setUp();
  one.bus.live();
  two.bus.live();
  one.channel.lowered("a:");
  one.channel.lowered("c:");
  one.channel.lowered("a:");
  await turns();
  assert.equal(one.bus.sent.length, 1);
  const [text] = one.bus.sent;
  assert.ok(!text!.includes("a:"), "no key leaves the process");
  assert.deepEqual(
    two.dropped(() => two.bus.deliver(text!)),
    ["a:", "c:"],
  );
  assert.deepEqual(
    one.dropped(() => one.bus.deliver(text!)),
    [],
  );
  one.channel.close();
  two.channel.close();
});

test("many slots become a message about all of them", async () => {
  const { bus, channel, dropped } = setUp();
  channel.loweredSlots(Array.from({ length: 2000 }, (_, index) => index + 1));
  await turns();
  assert.match(bus.sent[0]!, / all$/);
  assert.deepEqual(
    dropped(() => bus.deliver(`1 other all`)),
    ["a:", "b:", "c:"],
  );
  channel.close();
});

test("a message that this version cannot read drops all entries", () => {
  let overrides = 0;
  const { bus, channel, dropped } = setUp(() => {
    overrides += 1;
  });
  for (const text of [
    "2 other 5",
    "",
    "1 other -1",
    "1 other 99999999",
    "1 other x",
    `1 other ${"1 ".repeat(2000)}`,
  ])
    assert.deepEqual(
      dropped(() => bus.deliver(text)),
      ["a:", "b:", "c:"],
      text,
    );
  assert.deepEqual(
    dropped(() => bus.deliver("1 other overrides")),
    [],
  );
  assert.equal(overrides, 4);
  channel.close();
});

test("a change is sent again until it is published", async () => {
  const { bus, channel, dropped, lines } = setUp();
  bus.failures = 2;
  channel.lowered("b:");
  while (bus.sent.length === 0) await new Promise((resolve) => setTimeout(resolve, 1));
  assert.deepEqual(
    dropped(() => bus.deliver(bus.sent[0]!.replace(/^1 \S+/, "1 other"))),
    ["b:"],
  );
  assert.equal(lines.filter((line) => line.includes("cannot tell the other replicas")).length, 1);
  channel.close();
});

test("a caller can wait until a change was sent, or an attempt has failed", async () => {
  const { bus, channel } = setUp();
  await channel.told();
  channel.lowered("a:");
  await channel.told();
  assert.equal(bus.sent.length, 1);
  channel.overridesChanged();
  await Promise.all([channel.told(), channel.told()]);
  assert.equal(bus.sent.length, 2);
  bus.failures = 1;
  channel.lowered("a:");
  await channel.told();
  assert.equal(bus.sent.length, 2);
  channel.lowered("b:");
  const told = channel.told();
  channel.close();
  await told;
});

test("a subscription that begins or ends drops all entries, and is reported once", () => {
  const { bus, channel, dropped, lines } = setUp();
  for (const step of [() => bus.live(), () => bus.lost("cut"), () => bus.live()])
    assert.deepEqual(dropped(step), ["a:", "b:", "c:"]);
  assert.equal(channel.live, true);
  bus.lost("cut");
  bus.lost("cut");
  bus.live();
  assert.equal(lines.filter((line) => line.includes("no messages of other replicas arrive (cut)")).length, 1);
  channel.close();
});

test("without a subscription all entries are dropped again and again", async () => {
  const invalidations = new Invalidations();
  const log = { warn() {}, info() {} };
  const channel = new ReplicaChannel({ invalidations, open: undefined, revalidate: 2, log });
  const first = invalidations.last;
  while (invalidations.last < first + 3) await new Promise((resolve) => setTimeout(resolve, 1));
  channel.close();
});

test("no entry lives longer than LOCAL_CACHE_REVALIDATE before the first subscription and after a lost one", (t) => {
  t.mock.timers.enable({ apis: ["setInterval"] });
  const revalidate = 40;
  for (const isCut of [false, true]) {
    const invalidations = new Invalidations();
    const bus = newBus();
    const log = { warn() {}, info() {} };
    const channel = new ReplicaChannel({
      invalidations,
      open: isCut ? bus.open : undefined,
      revalidate,
      log,
    });
    if (isCut) {
      bus.live();
      const before = invalidations.last;
      t.mock.timers.tick(revalidate * 10);
      assert.equal(invalidations.last, before, "with a subscription only messages drop entries");
      bus.lost("cut");
      assert.notEqual(invalidations.last, before);
    }
    let dropped = invalidations.last;
    let age = 0;
    for (let millisecond = 0; millisecond < revalidate * 20; millisecond++) {
      t.mock.timers.tick(1);
      age += 1;
      assert.ok(age <= revalidate, `an entry of ${age} ms`);
      if (invalidations.last === dropped) continue;
      dropped = invalidations.last;
      age = 0;
    }
    channel.close();
  }
});

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { Admission, CircuitBreaker, type CircuitBreakerOptions } from "./circuit-breaker.ts";

const { REFUSED, NORMAL, PROBE } = Admission;

function setUp(options: CircuitBreakerOptions = {}) {
  const time = { now: 1_800_000_000_000 };
  const breaker = new CircuitBreaker({ clock: () => time.now, random: () => 1, ...options });
  const fail = (times: number) => {
    let opened = 0;
    for (let call = 0; call < times; call++) if (breaker.failed(breaker.admit())) opened += 1;
    return opened;
  };
  const succeed = () => breaker.succeeded(breaker.admit(), time.now);
  return { time, breaker, fail, succeed };
}

describe("circuit breaker", () => {
  test("opens once after consecutive failures", () => {
    const { breaker, fail } = setUp();
    assert.equal(fail(4), 0);
    assert.equal(breaker.admit(), NORMAL);
    assert.equal(fail(1), 1);
    assert.equal(breaker.admit(), REFUSED);
    assert.equal(breaker.failed(NORMAL), false, "a call from before the opening");
  });

  test("a success resets the count of failures", () => {
    const { breaker, time, fail, succeed } = setUp();
    fail(4);
    succeed();
    time.now += 10_000;
    assert.equal(fail(4), 0);
    assert.equal(breaker.isOpen, false);
  });

  test("does not open while other calls succeed", () => {
    const { breaker, time, fail, succeed } = setUp();
    succeed();
    for (let round = 0; round < 100; round++) {
      fail(20);
      succeed();
      time.now += 90;
    }
    assert.equal(breaker.isOpen, false);
    time.now += 10;
    fail(5);
    assert.equal(breaker.isOpen, true);
  });

  test("probes with one call after a wait and closes if it succeeds", () => {
    const { breaker, time, fail } = setUp();
    fail(5);
    time.now += 249;
    assert.equal(breaker.admit(), REFUSED);
    time.now += 1;
    assert.equal(breaker.admit(), PROBE);
    assert.equal(breaker.admit(), REFUSED, "one probe at a time");
    assert.equal(breaker.succeeded(PROBE, time.now), true);
    assert.equal(breaker.admit(), NORMAL);
    assert.equal(breaker.succeeded(NORMAL, time.now), false);
  });

  test("doubles the wait after each failed probe up to a bound, and starts over after a success", () => {
    const { breaker, time, fail } = setUp();
    fail(5);
    for (const wait of [250, 500, 1000, 2000, 4000, 5000, 5000]) {
      time.now += wait - 1;
      assert.equal(breaker.admit(), REFUSED, `before ${wait}`);
      time.now += 1;
      assert.equal(breaker.admit(), PROBE, `after ${wait}`);
      assert.equal(breaker.failed(PROBE), false);
    }
    time.now += 5000;
    breaker.succeeded(breaker.admit(), time.now);
    time.now += 1000;
    fail(5);
    time.now += 250;
    assert.equal(breaker.admit(), PROBE);
  });

  test("repeats an inconclusive probe at once, and waits the same time after an unanswered probe", () => {
    const { breaker, time, fail } = setUp();
    fail(5);
    time.now += 250;
    breaker.inconclusive(breaker.admit());
    assert.equal(breaker.admit(), PROBE);
    assert.equal(breaker.unanswered(PROBE), false);
    assert.equal(breaker.admit(), REFUSED);
    time.now += 250;
    assert.equal(breaker.admit(), PROBE);
  });

  test("calls from before the opening neither close it nor keep it open", () => {
    const { breaker, time, fail } = setUp();
    fail(5);
    assert.equal(breaker.succeeded(NORMAL, time.now - 1000), false);
    assert.equal(breaker.isOpen, true);
    time.now += 250;
    const probe = breaker.admit();
    breaker.failed(NORMAL);
    breaker.unanswered(NORMAL);
    assert.equal(breaker.succeeded(probe, time.now), true);
  });

  test("opens for unanswered calls only after a second without a success", () => {
    const { breaker, time, succeed } = setUp();
    succeed();
    time.now += 999;
    for (let call = 0; call < 50; call++) assert.equal(breaker.unanswered(breaker.admit()), false);
    time.now += 1;
    assert.equal(breaker.unanswered(breaker.admit()), true);
  });

  test("opens although the clock was set back", () => {
    const { breaker, time, fail, succeed } = setUp();
    succeed();
    time.now -= 3_600_000;
    assert.equal(fail(5), 1);
    assert.equal(breaker.isOpen, true);
  });

  test("probes although the clock was set back", () => {
    const { breaker, time, fail } = setUp();
    fail(5);
    time.now -= 3_600_000;
    assert.equal(breaker.admit(), PROBE);
  });

  test("jitter shortens the wait by up to a fifth", () => {
    const { breaker, time, fail } = setUp({ random: () => 0 });
    fail(5);
    time.now += 200;
    assert.equal(breaker.admit(), PROBE);
  });

  test("after any sequence of events it has at most one probe, and a successful probe closes it", () => {
    const event = fc.constantFrom("ok", "fail", "late", "nothing", "time");
    fc.assert(
      fc.property(fc.array(event, { maxLength: 200 }), (events) => {
        const { breaker, time } = setUp();
        for (const name of events) {
          if (name === "time") time.now += 700;
          else {
            const admission = breaker.admit();
            if (admission === REFUSED) continue;
            if (admission === PROBE) assert.equal(breaker.admit(), REFUSED);
            if (name === "ok") breaker.succeeded(admission, time.now);
            else if (name === "fail") breaker.failed(admission);
            else if (name === "late") breaker.unanswered(admission);
            else breaker.inconclusive(admission);
          }
        }
        time.now += 5000;
        const last = breaker.admit();
        assert.notEqual(last, REFUSED);
        breaker.succeeded(last, time.now);
        assert.equal(breaker.isOpen, false);
      }),
      { numRuns: 300 },
    );
  });
});

test("a step of the wall clock neither opens the breaker early nor keeps it open", (t) => {
  const real = Date.now;
  const step = (milliseconds: number) => t.mock.method(Date, "now", () => real() + milliseconds);
  // The quiet time is long: only a jumping clock could end it during the test.
  const breaker = new CircuitBreaker({ quiet: 600_000, stall: 600_000 });
  breaker.succeeded(breaker.admit(), performance.now());
  step(3600e3);
  for (let call = 0; call < 20; call++) breaker.failed(breaker.admit());
  assert.equal(breaker.isOpen, false);
});

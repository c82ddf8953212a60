import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { makeSettle, newToken } from "../../../test/counters/reservation-conformance.ts";
import { Step } from "../reservations.ts";
import { HoldBack } from "../store.ts";
import { Ticket } from "../transport/ticket.ts";
import { CommandWriter } from "./resp/writer.ts";
import { SettleCall } from "./settle-call.ts";

function ticket(onFail: (error: Error) => void = assert.fail): Ticket {
  const waiter = { answered: () => {}, failed: (error: unknown) => onFail(error as Error) };
  return new Ticket([], HoldBack.NEVER, Number.POSITIVE_INFINITY, 0, undefined, waiter);
}

const settled = (limit: number) =>
  ({
    request: makeSettle({ step: Step.RESERVE, limits: [{ stem: "a", limit }], token: newToken() }, 0),
    isDecision: false,
    isCluster: false,
  }) as const;

/** The bulk strings that a call writes: its keys, its words, and a reservation for each step. */
function written(call: SettleCall): string[] {
  const writer = new CommandWriter();
  call.write(writer, 1, 2);
  const bytes = writer.bytes().toString("latin1");
  const parts: string[] = [];
  for (let at = 0; at < bytes.length; ) {
    const end = bytes.indexOf("\r\n", at);
    const length = Number(bytes.slice(at + 1, end));
    parts.push(bytes.slice(end + 2, end + 2 + length));
    at = end + 2 + length + 2;
  }
  return parts;
}

test("steps of one call share their quotas, and a call has a bounded number of steps", () => {
  const call = new SettleCall();
  const sizes = [10, 10, 20, 10].map((limit) => {
    assert.ok(call.add(settled(limit), ticket()));
    return written(call)[call.keys]!.length;
  });
  const [first, equal, other, again] = sizes as [number, number, number, number];
  assert.equal(again - other, equal - first);
  assert.ok(other - equal > equal - first);
  let steps = sizes.length;
  while (call.add(settled(10), ticket())) steps += 1;
  assert.equal(steps, 64);
  call.clear();
  assert.ok(call.add(settled(10), ticket()));
  assert.equal(written(call)[call.keys]!.length, first);
});

test("a call writes as many keys and arguments as it says", () => {
  const call = new SettleCall();
  for (const limit of [10, 20]) call.add(settled(limit), ticket());
  assert.equal(written(call).length, call.keys + call.args);
});

for (const reply of [null, 1, "OK", "12345678", [1]])
  test(`the reply ${JSON.stringify(reply).slice(0, 20)} fails all callers of a call`, async () => {
    const call = new SettleCall();
    const errors: string[] = [];
    for (const limit of [10, 20])
      call.add(
        settled(limit),
        ticket(({ message }) => errors.push(message)),
      );
    call.settle(reply);
    await nextTurn();
    assert.equal(errors.length, 2);
    for (const message of errors) assert.match(message, /unexpected format/);
  });

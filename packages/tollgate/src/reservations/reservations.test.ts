import assert from "node:assert/strict";
import { test } from "node:test";
import { ReservationModel } from "../../test/counters/reservation-model.ts";
import { EmbeddedStore } from "../counters/embedded/embedded-store.ts";
import { FailurePolicy } from "../counters/failure-policy.ts";
import { type ReservationStore, Step } from "../counters/reservations.ts";
import { StoreError } from "../counters/store.ts";
import { descriptor, plainOptions, request, rule, ruleSet } from "../decision/decide.fixture.ts";
import { promiseOf } from "../decision/pending-answer.ts";
import { createStatistics } from "../observe/registry.ts";
import { Unit } from "../protocol/messages.ts";
import type { ReserveResponse } from "../protocol/reservation-messages.ts";
import { Reservations } from "./reservations.ts";

const MINUTE = 60_000;
const rules = ruleSet({ k: rule({ unit: Unit.DAY, requestsPerUnit: 100 }) });

test("a ttl above an hour is cut to an hour", async () => {
  const store = EmbeddedStore.create({ sizeInBytes: 4 * 1024 ** 2 });
  const options = { ...plainOptions, ttl: 10 * MINUTE, maxFraction: 1, maxHolds: 10 };
  const reservations = new Reservations(options, createStatistics(), store);
  const asked = () => reservations.prepare(request(descriptor("k")), rules);
  const begun = Date.UTC(2026, 0, 1, 6);
  const held = async (minutes: number) => {
    const time = { now: begun + minutes * MINUTE, deadline: 0 };
    const { statuses } = await promiseOf(reservations.check(asked(), time));
    return 100 - statuses[0]!.limitRemaining;
  };
  const reserve = async (hits: number, ttl: number | undefined): Promise<ReserveResponse> =>
    promiseOf(reservations.reserve(asked(), { amount: hits, ttl }, { now: begun, deadline: 0 }));
  for (const [hits, ttl] of [
    [1, 5 * MINUTE],
    [2, undefined],
    [4, 60 * MINUTE],
    [8, 10_000 * MINUTE],
  ] as const)
    assert.equal((await reserve(hits, ttl)).reserved, hits);
  const seen = [];
  for (const minutes of [4, 6, 9, 11, 59, 61]) seen.push(await held(minutes));
  assert.deepEqual(seen, [15, 14, 14, 12, 12, 0]);
  await store.close();
});

test("each counter of a remote store is looked at, also after calls that a local store has answered", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout", "Date"], now: Date.UTC(2026, 0, 1, 6) });
  const looks: string[] = [];
  const model = new ReservationModel();
  let isCut = true;
  const remote: ReservationStore = {
    kind: "remote",
    count: () => assert.fail(),
    async settle(request) {
      if (isCut) throw new StoreError("STORE_UNAVAILABLE", "cut");
      if (request.step === Step.CANCEL) looks.push(request.groups[0]!.limits[0]!.stem);
      model.settle(request);
    },
    close: async () => {},
  };
  const local = EmbeddedStore.create({ sizeInBytes: 4 * 1024 ** 2 });
  const store = new FailurePolicy(remote, { mode: "local", local });
  const options = { ...plainOptions, ttl: MINUTE, maxFraction: 1, maxHolds: 10 };
  const reservations = new Reservations(options, createStatistics(), store);
  const asked = (value: string) =>
    reservations.prepare(request(descriptor("k", { entries: [{ key: "k", value }] })), rules);
  const time = () => ({ now: Date.now(), deadline: 0 });
  await promiseOf(reservations.report(asked("a"), time()));
  await new Promise(setImmediate);
  isCut = false;
  for (const value of ["a", "b"]) {
    await promiseOf(reservations.reserve(asked(value), { amount: 1, ttl: undefined }, time()));
    await new Promise(setImmediate);
  }
  for (let second = 0; second < 62; second++) {
    t.mock.timers.tick(1000);
    for (let turn = 0; turn < 3; turn++) await new Promise(setImmediate);
  }
  assert.deepEqual(looks.sort(), ["d|k=a|day:", "d|k=b|day:"]);
  await store.close();
});

/**
 * `npm run bench -- reservations`: the CPU of Reserve, Commit, CheckRateLimit and Report against that of a decision about
 * the same descriptor: in the handler alone, embedded, and of the service for a whole call, embedded and over Redis.
 * With a folder, `npm run bench -- reservations FOLDER`: compares the path of each call with that of another checkout.
 */
import { EmbeddedStore } from "../../packages/tollgate/src/counters/embedded/embedded-store.ts";
import { Decider } from "../../packages/tollgate/src/decision/decide.ts";
import { ReservationHandler } from "../../packages/tollgate/src/listeners/reservation-handler.ts";
import { createStatistics } from "../../packages/tollgate/src/observe/registry.ts";
import {
  writeCommitResponse,
  writeReserveResponse,
} from "../../packages/tollgate/src/protocol/encode-reservation.ts";
import { maxResponseSize, writeResponse } from "../../packages/tollgate/src/protocol/encode-response.ts";
import type { RateLimitResponse } from "../../packages/tollgate/src/protocol/messages.ts";
import { DEFAULT_REQUEST_LIMITS } from "../../packages/tollgate/src/protocol/request-limits.ts";
import { idText } from "../../packages/tollgate/src/protocol/reservation-id.ts";
import type { ReserveResponse } from "../../packages/tollgate/src/protocol/reservation-messages.ts";
import { RequestPlaces } from "../../packages/tollgate/src/protocol/scan-request.ts";
import { Reservations } from "../../packages/tollgate/src/reservations/reservations.ts";
import { loadRules } from "../../packages/tollgate/src/rules/load-rules.ts";
import { cpuNanoseconds } from "../support/cpu-time.ts";
import { decisionOptions } from "../support/decision.ts";
import { median } from "../support/figures.ts";
import { ab } from "./ab.ts";
import { calls as wholeCalls } from "./calls.ts";
import { commitMessage, decisionMessage, reserveMessage, withId } from "./messages.ts";

const ROUNDS = 5;
const AB_ROUNDS = 100;
/** Reservations and their commits take turns: so many are open at a time. */
const OPEN = 1000;

const kinds: readonly (readonly [name: string, limits: string])[] = [
  ["fixed window", "rate_limit: { unit: hour, requests_per_unit: 1000000000 }"],
  ["token bucket", "rate_limit: { unit: hour, requests_per_unit: 1000000000, algorithm: token_bucket }"],
  [
    "two limits",
    "rate_limits: [{ unit: hour, requests_per_unit: 1000000000 }, { unit: day, requests_per_unit: 1000000000 }]",
  ],
];

export async function main([folder]: string[]): Promise<void> {
  if (folder !== undefined) {
    await ab(folder, kinds, AB_ROUNDS);
    return;
  }
  for (const [name, limits] of kinds) embedded(name, limits);
  await wholeCalls(kinds);
}

function embedded(name: string, limits: string): void {
  const text = `{ domain: bench, descriptors: [{ key: user, ${limits} }] }`;
  const { ruleSet } = loadRules([{ name: "rules.yaml", text }], { mergeDomains: false });
  const store = EmbeddedStore.create({ reclaimInterval: 0 });
  const statistics = createStatistics();
  const decider = new Decider(decisionOptions, statistics, store);
  const options = { ...decisionOptions, ttl: 600_000, maxFraction: 0.25, maxHolds: 10_000 };
  const handler = new ReservationHandler({
    reservations: new Reservations(options, statistics, store),
    limits: DEFAULT_REQUEST_LIMITS,
    ruleSet: () => ruleSet,
  });
  const users = Array.from({ length: OPEN }, (_, index) => `user-${index}`);
  const decisions = users.map((user) => decisionMessage(user));
  const reserves = users.map((user) => reserveMessage(user, 20));
  const commits = users.map((user) => commitMessage(user, 15));
  const ids = users.map(() => "");
  const places = new RequestPlaces();
  const output = new Uint8Array(256);
  const start = 1_800_000_000_000;
  const time = (call: number) => ({ now: start + Math.floor(call / 1000), deadline: 0 });
  const placeOf = (buffer: Uint8Array) => ({ buffer, start: 0, end: buffer.length });
  const write = (response: unknown) => {
    maxResponseSize(response as RateLimitResponse);
    writeResponse(response as RateLimitResponse, output, 0);
  };
  const calls: Readonly<Record<string, (call: number) => void>> = {
    decision: (call) => {
      const bytes = decisions[call % OPEN]!;
      places.scan(bytes, 0, bytes.length);
      write(decider.decideInPlace(places, ruleSet, time(call).now, 0));
    },
    CheckRateLimit: (call) => write(handler.check(placeOf(decisions[call % OPEN]!), time(call))),
    Report: (call) => write(handler.report(placeOf(decisions[call % OPEN]!), time(call))),
  };
  const figures = new Map<string, number[]>();
  const add = (name: string, nanoseconds: readonly number[]) =>
    figures.set(name, [...(figures.get(name) ?? []), ...nanoseconds]);
  pairs();
  for (let round = 0; round < ROUNDS; round++) {
    for (const [name, run] of Object.entries(calls)) add(name, cpuNanoseconds(1, run));
    const [reserve, commit] = pairs();
    add("Reserve", [reserve]);
    add("Commit", [commit]);
  }

  /** Makes reservations, then their commits, in turn. @returns nanoseconds of CPU for one of each */
  function pairs(): [reserve: number, commit: number] {
    const turns = 60;
    const spent = [0, 0];
    for (let turn = 0; turn < turns; turn++) {
      const begun = process.cpuUsage();
      for (let call = 0; call < OPEN; call++) {
        const answer = handler.reserve(placeOf(reserves[call]!), time(call)) as ReserveResponse;
        writeReserveResponse(answer, output, 0);
        ids[call] = idText(answer.id!);
      }
      spent[0]! += microseconds(begun);
      for (let call = 0; call < OPEN; call++) withId(commits[call]!, ids[call]!);
      const middle = process.cpuUsage();
      for (let call = 0; call < OPEN; call++) {
        const answer = handler.commit(placeOf(commits[call]!), time(call));
        writeCommitResponse(answer as { released: boolean }, output, 0);
      }
      spent[1]! += microseconds(middle);
    }
    return [(spent[0]! * 1000) / (turns * OPEN), (spent[1]! * 1000) / (turns * OPEN)];
  }

  const baseline = median(figures.get("decision")!);
  console.log(`\nin the handler, embedded, ${name}\n\n| call | CPU | against a decision |\n|---|---|---|`);
  for (const [call, all] of figures)
    console.log(`| ${call} | ${median(all).toFixed(0)} ns | ${(median(all) / baseline).toFixed(2)} |`);
}

function microseconds(begun: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(begun);
  return user + system;
}

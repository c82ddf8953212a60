import { EmbeddedStore } from "../../packages/tollgate/src/counters/embedded/embedded-store.ts";
import { type CountRequest, HoldBack } from "../../packages/tollgate/src/counters/store.ts";
import { countOf, NOW, nanoseconds, requestOf, stemOf } from "./workload.ts";

/** Measures the time of one count, hot and cold, and of a Map with whole keys. */
export function runSpeed(): void {
  const rows: Record<string, Record<string, string>> = {};
  for (const keys of [1, 1000, 1_000_000]) {
    const stems = Array.from({ length: keys }, (_, index) => stemOf(index));
    const requests = stems.map((stem) => requestOf([countOf(stem)]));
    const calls = keys === 1 ? 5_000_000 : 2_000_000;
    const store = EmbeddedStore.create();
    const ours = nanoseconds(calls, (count) => inTurn(store, requests, count));
    const map = nanoseconds(calls, (count) => mapInTurn(stems, count));
    rows[`${keys} keys in turn`] = row(ours, map);
    void store.close();
  }
  const fresh = EmbeddedStore.create();
  const made = nanoseconds(1_000_000, (count) => madeStems(fresh, count));
  rows["1 key, a new string each time"] = row(
    made,
    nanoseconds(1_000_000, (count) => madeMap(count)),
  );
  const multi = EmbeddedStore.create();
  const four = requestOf([0, 1, 2, 3].map((index) => countOf(stemOf(index))));
  const fourAll = { ...four, holdBack: HoldBack.WHEN_REFUSED };
  const one = nanoseconds(1_000_000, (count) => inTurn(multi, [requestOf([countOf(stemOf(0))])], count));
  rows["4 counts in a request, against 1"] = row(
    nanoseconds(500_000, (n) => inTurn(multi, [four], n)),
    one,
  );
  rows["4 counts that hold each other back, against 1"] = row(
    nanoseconds(500_000, (n) => inTurn(multi, [fourAll], n)),
    one,
  );
  console.table(rows);
}

function row(ours: number, baseline: number): Record<string, string> {
  return {
    "ns a request": ours.toFixed(0),
    "baseline ns": baseline.toFixed(0),
    ratio: (ours / baseline).toFixed(2),
  };
}

function inTurn(store: EmbeddedStore, requests: readonly CountRequest[], calls: number): void {
  for (let call = 0, index = 0; call < calls; call++) {
    store.count(requests[index]!);
    index = index + 1 === requests.length ? 0 : index + 1;
  }
}

function mapInTurn(stems: readonly string[], calls: number): void {
  const map = new Map<string, number>();
  for (let call = 0, index = 0; call < calls; call++) {
    const stem = stems[index]!;
    map.set(stem, (map.get(stem) ?? 0) + 1);
    index = index + 1 === stems.length ? 0 : index + 1;
  }
}

/** Joins stems from parts, as a decision does: the strings are neither flat nor hashed. */
function madeStems(store: EmbeddedStore, calls: number): void {
  const count = countOf("");
  const request = requestOf([count]);
  for (let call = 0; call < calls; call++) {
    Object.assign(count, { stem: madeStem(call) });
    store.count(request);
  }
}

function madeMap(calls: number): void {
  const map = new Map<string, number>();
  const count = countOf("");
  for (let call = 0; call < calls; call++) {
    Object.assign(count, { stem: madeStem(call) });
    map.set(count.stem, (map.get(count.stem) ?? 0) + NOW);
  }
}

function madeStem(call: number): string {
  return `edge|remote_address=10.0.0.${call & 15}|minute:`;
}

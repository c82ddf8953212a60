import { makeCount, makeRequest, storeConformance } from "../../../test/counters/conformance.ts";
import type { CounterStore } from "../store.ts";
import { EmbeddedStore } from "./embedded-store.ts";

function look(store: CounterStore, key: string): number {
  const [, stem, start] = /^(.*:)(\d+)$/.exec(key)!;
  const count = makeCount({ stem: stem!, windowStart: Number(start), hits: 0 });
  store.count(makeRequest([count]));
  return count.after;
}

storeConformance("embedded", {
  makeStore: () => EmbeddedStore.create({ sizeInBytes: 1024 ** 2 }),
  makePeer: (_, store) => EmbeddedStore.attach((store as EmbeddedStore).share()),
  holds: (store, key) => look(store, key) > 0,
});

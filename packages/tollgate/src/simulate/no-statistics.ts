import type { ReservationStatistics, RuleStatistics, Statistics } from "../observe/statistics.ts";

const rule: RuleStatistics = {
  totalHits: 0,
  overLimit: 0,
  nearLimit: 0,
  withinLimit: 0,
  shadowMode: 0,
  overLimitWithLocalCache: 0,
  totalNegativeHits: 0,
};
const reservations: ReservationStatistics = { reserved: 0, released: 0, expired: 0, committed: 0 };
const counter = { value: 0 };
const timer = { record: () => undefined };

/** Statistics that nothing reads. All rules add to one object, so that no number of keys fills the memory. */
export const noStatistics: Statistics = {
  rule: () => rule,
  reservationsOf: () => reservations,
  domainNotFound: () => counter,
  counter: () => counter,
  counterFrom: () => undefined,
  gauge: () => undefined,
  timer: () => timer,
};

import { newRuleStatistics, type ReservationStatistics, type Statistics } from "../observe/statistics.ts";

const rule = newRuleStatistics();
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

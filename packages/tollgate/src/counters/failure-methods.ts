/** The treatment of each method of a store by a failure policy. */
import { acquireFor } from "./acquire.ts";
import { type ReservationRequest, Step, settleFor, Verdict } from "./reservations.ts";
import {
  type AcquireRequest,
  type CounterStore,
  type CountRequest,
  countFor,
  Outcome,
  type Waiter,
} from "./store.ts";

/** `error` fails the call, `allow` and `deny` answer it, `local` counts it in another store until the store recovers. */
export type FailureMode = "error" | "allow" | "deny" | "local";

/** The common part of the requests of all methods. */
export type AnyRequest = Pick<CountRequest, "now" | "deadline">;

/** One of the methods of a store. */
export interface Method<Request> {
  /** See `countFor` of a store. */
  ask(store: CounterStore, request: Request, waiter: Waiter): boolean;
  answer(request: Request, outcome: Outcome): void;
  /** Whether the caller gets the error although the mode answers others. */
  mustPass?(request: Request, mode: FailureMode): boolean;
  /** Whether mode `local` allows it without a local count. */
  isAllowedLocally?(request: Request): boolean;
}

export const counting: Method<CountRequest> = {
  ask: countFor,
  answer({ counts }, outcome) {
    for (const count of counts) {
      count.outcome = outcome;
      count.after = 0;
    }
  },
};

export const acquiring: Method<AcquireRequest> = {
  ask: acquireFor,
  answer({ groups }, outcome) {
    for (const group of groups) {
      group.outcome = outcome;
      group.accepted = outcome === Outcome.ALLOWED;
    }
  },
};

export const settling: Method<ReservationRequest> = {
  ask: settleFor,
  answer(request, outcome) {
    acquiring.answer(request as unknown as AcquireRequest, outcome);
    request.verdict = outcome === Outcome.ALLOWED ? Verdict.OK : Verdict.REFUSED;
  },
  // A refused report would be lost without a word.
  mustPass: ({ step }, mode) => step >= Step.COMMIT || (step === Step.REPORT && mode === "deny"),
  isAllowedLocally: ({ step }) => step === Step.RESERVE,
};

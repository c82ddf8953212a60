import { hashOfText } from "../counters/stem-hash.ts";
import { DecisionObserver } from "../decision/decision-observer.ts";
import { DecisionRecorder } from "../decision/decision-recorder.ts";
import { type LineBatch, Outbox } from "../observe/decision-log/outbox.ts";
import { Sampling } from "../observe/decision-log/sampling.ts";
import { KeyMask } from "../observe/key-mask.ts";
import type { Statistics } from "../observe/statistics.ts";
import { ThreadTopKeys } from "../observe/top-keys/thread-top-keys.ts";
import type { Environment } from "../settings/read-values.ts";
import type { Settings } from "../settings/settings.ts";

/** The observers of the decisions of one thread. */
export interface Observation {
  readonly observer: DecisionObserver;
  /** Undefined if top keys are off. */
  readonly topKeys: ThreadTopKeys | undefined;
  readonly recorder: DecisionRecorder;
  readonly outbox: Outbox;
}

/**
 * Creates the observer of one thread.
 * @param parts number of threads that share the refusals of a second
 * @param send passes recorded decisions to the main thread
 */
export function observeDecisions(
  settings: Settings,
  statistics: Statistics,
  parts: number,
  send: (batch: LineBatch) => void,
): Observation {
  const { rate, refusalsPerSecond: refusals } = settings.decisionLog;
  const { mask: keys, maskStyle: style, maskSalt } = settings.mask;
  const salt = maskSalt.reveal();
  const mask = new KeyMask({ keys, style, salt });
  const topKeys = settings.topKeys && new ThreadTopKeys({ ...settings.topKeys, mask });
  const isLogged = settings.decisionLog.target !== undefined;
  const outbox = new Outbox({ send, dropped: isLogged ? statistics.counter(DROPPED) : { value: 0 } });
  const refusalsPerSecond = refusals === 0 ? 0 : Math.max(1, Math.floor(refusals / parts));
  const sampling = new Sampling({ rate, refusalsPerSecond });
  const recorder = new DecisionRecorder({ sampling, mask, write: (line) => outbox.add(line) });
  // Callers do not know the salt, so they cannot look for keys with equal hashes.
  const observer = new DecisionObserver({ topKeys, recorder, mask, seed: hashOfText(salt, 0) });
  return { observer, topKeys, recorder, outbox };
}

export const DROPPED = "ratelimit.decision_log.dropped";

/** The environment for the threads, with the salt: a random one must be the same in all of them. */
export function withMaskSalt(environment: Environment, { mask }: Settings): Environment {
  return { ...environment, TOP_KEYS_MASK_SALT: mask.maskSalt.reveal() };
}

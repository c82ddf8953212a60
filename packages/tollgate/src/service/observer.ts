import { DecisionObserver } from "../decision/decision-observer.ts";
import { hashOfText } from "../decision/stem-hash.ts";
import { KeyMask } from "../observe/key-mask.ts";
import { ThreadTopKeys } from "../observe/top-keys/thread-top-keys.ts";
import type { Environment } from "../settings/read-values.ts";
import type { Settings } from "../settings/settings.ts";

/** What observes the decisions of one thread. */
export interface Observation {
  /** Undefined if nothing does. */
  readonly observer: DecisionObserver | undefined;
  readonly topKeys: ThreadTopKeys | undefined;
}

/** Creates the observer of one thread. */
export function observeDecisions({
  topKeys: options,
  mask: { mask, maskStyle, maskSalt },
}: Settings): Observation {
  if (options === undefined) return { observer: undefined, topKeys: undefined };
  const salt = maskSalt.reveal();
  const keyMask = new KeyMask({ keys: mask, style: maskStyle, salt });
  const topKeys = new ThreadTopKeys({ ...options, mask: keyMask });
  // Callers do not know the salt, so they cannot look for keys with equal hashes.
  return { topKeys, observer: new DecisionObserver({ topKeys, mask: keyMask, seed: hashOfText(salt, 0) }) };
}

/** The environment for the threads, with the salt: a random one must be the same in all of them. */
export function withMaskSalt(environment: Environment, { mask }: Settings): Environment {
  return { ...environment, TOP_KEYS_MASK_SALT: mask.maskSalt.reveal() };
}

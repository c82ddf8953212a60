import type { Guard, Guards } from "./controller.ts";

/** The guard of a verb. Undefined if everybody may use it, null if the guards do not say. */
export function guardOf(guards: Guards | undefined, verb: string): Guard | undefined | null {
  if (guards === undefined || typeof guards === "function") return guards;
  const own: unknown = Object.hasOwn(guards, verb) ? guards[verb] : null;
  if (own === "public") return undefined;
  return typeof own === "function" ? (own as Guard) : null;
}

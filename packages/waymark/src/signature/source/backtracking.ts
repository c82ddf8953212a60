import { createRequire } from "node:module";
import type * as Detector from "redos-detector";

/**
 * Limits of the search. Patterns without overlapping parts score 1 or 2. A higher score, or a search that needs more
 * steps, counts as unbounded backtracking.
 */
const LIMITS = { maxScore: 10, maxSteps: 2_000, timeout: Number.POSITIVE_INFINITY } as const;

const require = createRequire(import.meta.url);
/** Results by pattern, so that a type of many methods is checked once. Bounded by the patterns in the sources. */
const verdicts = new Map<string, boolean>();

/**
 * Whether V8's backtracking may take superlinear time. If in doubt, true. Loads the detector with the first pattern,
 * because most sources have none.
 */
export function mayBacktrackWithoutBound(pattern: string): boolean {
  let verdict = verdicts.get(pattern);
  if (verdict === undefined) {
    verdict = !isSafe(pattern);
    verdicts.set(pattern, verdict);
  }
  return verdict;
}

function isSafe(pattern: string): boolean {
  const { isSafePattern } = require("redos-detector") as typeof Detector;
  try {
    return isSafePattern(withoutGroupNames(pattern), { ...LIMITS, unicode: true }).safe;
  } catch {
    // The detector does not support this syntax.
    return false;
  }
}

/** Group names do not affect matching, and the detector does not support them. */
function withoutGroupNames(pattern: string): string {
  return pattern.replace(/\\.|\[(?:\\.|[^\]\\])*\]|\(\?<(?![=!])[^>]+>/gs, (part) =>
    part.startsWith("(?<") ? "(" : part,
  );
}

import { createRequire } from "node:module";
import type * as Detector from "redos-detector";

/**
 * How far the search goes. Patterns without overlapping parts score 1 or 2; a higher score, or a search that does not
 * end within the steps, is taken for one without bound.
 */
const LIMITS = { maxScore: 10, maxSteps: 2_000, timeout: Number.POSITIVE_INFINITY } as const;

const require = createRequire(import.meta.url);
/** By pattern, as many as the sources have: a type that many methods use is judged once. */
const judged = new Map<string, boolean>();

/**
 * Whether V8 may try a text in so many ways that the time grows faster than the text. Errs on the side of yes. The
 * detector is loaded for the first pattern: most sources have none.
 */
export const mayBacktrackWithoutBound = (pattern: string): boolean => {
  let verdict = judged.get(pattern);
  if (verdict === undefined) {
    verdict = !isSafe(pattern);
    judged.set(pattern, verdict);
  }
  return verdict;
};

const isSafe = (pattern: string): boolean => {
  const { isSafePattern } = require("redos-detector") as typeof Detector;
  try {
    return isSafePattern(withoutGroupNames(pattern), { ...LIMITS, unicode: true }).safe;
  } catch {
    // syntax that the detector does not know
    return false;
  }
};

/** Names of groups change nothing in how a pattern matches, and the detector does not read them. */
const withoutGroupNames = (pattern: string): string =>
  pattern.replace(/\\.|\[(?:\\.|[^\]\\])*\]|\(\?<(?![=!])[^>]+>/gs, (part) =>
    part.startsWith("(?<") ? "(" : part,
  );

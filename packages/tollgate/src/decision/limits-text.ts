/** The limits of an explanation as lines of text. */
import type { LimitExplanation } from "./explain-limits.ts";

export function limitLines(limits: readonly LimitExplanation[]): readonly string[] {
  return limits.map((limit) => `limit      ${limitText(limit)}`);
}

function limitText({ name, algorithm, count, limit, burst, seconds, ...counter }: LimitExplanation): string {
  const { cacheKey, window, used, remaining, granted } = counter;
  const parts = [
    `${name === undefined ? "" : `${name}: `}${limit} per ${seconds} s, ${algorithm}`,
    ...(burst === undefined ? [] : [`burst ${burst}`]),
    ...(algorithm === "fixed_window" && count === "accepted" ? ["counts accepted hits only"] : []),
    `cache key ${cacheKey}`,
    ...(window === undefined ? [] : [`window ${timeOf(window.start)} to ${timeOf(window.end)}`]),
    ...(used === undefined ? [] : [`${used} used, ${remaining} left`]),
    ...(granted === undefined ? [] : [`${granted} of them granted`]),
  ];
  return parts.join(", ");
}

function timeOf(seconds: number): string {
  return new Date(seconds * 1000).toISOString().replace(".000Z", "Z");
}

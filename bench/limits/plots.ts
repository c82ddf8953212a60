/** The plots of docs/rules.md: traffic above the limit for 25 s, a pause, and a burst on each side of a window's edge. */
import { passedSvg } from "./passed-svg.ts";
import { algorithms, LIMIT, passed, SECONDS } from "./traffic.ts";

/** @returns the name of each file in docs/limits, and its SVG */
export function plots(): readonly (readonly [file: string, svg: string])[] {
  const steady = Array.from({ length: 500 }, (_, index) => index * 50);
  const burst = Array.from({ length: 200 }, (_, index) => 49_000 + index * 10);
  const asked = [...steady, ...burst];
  return (["fixed_window", "sliding_window", "token_bucket"] as const).map((name) => {
    const yaml = algorithms.find(([one]) => one === name)![1];
    const svg = passedSvg(`${name}: ${LIMIT} in ${SECONDS} s`, asked, passed(yaml, asked), 70_000);
    return [name.replace("_", "-"), svg];
  });
}

/** A plot of the hits that passed within the last window's length, over time. */
import { LIMIT, SECONDS } from "./traffic.ts";

const WIDTH = 640;
const HEIGHT = 200;
const LEFT = 48;
const RIGHT = 16;
const TOP = 36;
const BOTTOM = 40;
const TOP_VALUE = 2 * LIMIT;

/** @param asked instants of all hits, in milliseconds @param passed instants of those that passed @param end the last instant shown */
export function passedSvg(
  title: string,
  asked: readonly number[],
  passed: readonly number[],
  end: number,
): string {
  const across = (at: number): string => (LEFT + (at / end) * (WIDTH - LEFT - RIGHT)).toFixed(1);
  const up = (value: number): string =>
    (HEIGHT - BOTTOM - (Math.min(value, TOP_VALUE) / TOP_VALUE) * (HEIGHT - TOP - BOTTOM)).toFixed(1);
  const within = (instants: readonly number[], at: number): number =>
    instants.filter((one) => one <= at && one > at - SECONDS * 1000).length;
  const line = (instants: readonly number[]): string =>
    Array.from(
      { length: end / 200 + 1 },
      (_, index) => `${across(index * 200)},${up(within(instants, index * 200))}`,
    ).join(" ");
  const parts: string[] = [];
  for (let second = 0; second <= end / 1000; second += SECONDS) {
    const x = across(second * 1000);
    parts.push(`<line class="grid" x1="${x}" x2="${x}" y1="${TOP}" y2="${HEIGHT - BOTTOM}"/>`);
    parts.push(`<text x="${x}" y="${HEIGHT - BOTTOM + 16}" text-anchor="middle">${second} s</text>`);
  }
  for (const value of [0, LIMIT, TOP_VALUE])
    parts.push(`<text x="${LEFT - 8}" y="${Number(up(value)) + 4}" text-anchor="end">${value}</text>`);
  const limit = up(LIMIT);
  parts.push(
    `<polyline points="${line(asked)}" fill="none" stroke="#999" stroke-width="1" stroke-dasharray="3 3"/>`,
    `<line x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${limit}" y2="${limit}" stroke="#d55e00" stroke-dasharray="6 3"/>`,
    `<polyline points="${line(passed)}" fill="none" stroke="#0072b2" stroke-width="2"/>`,
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${title}">
<style>
text { font: 12px system-ui, sans-serif; fill: #444 }
.title { font-weight: 600; font-size: 14px }
.grid { stroke: #8884 }
@media (prefers-color-scheme: dark) { text { fill: #ccc } }
</style>
<text class="title" x="${LEFT}" y="22">${title}</text>
${parts.join("\n")}
<text x="${(LEFT + WIDTH - RIGHT) / 2}" y="${HEIGHT - 6}" text-anchor="middle">hits within the last ${SECONDS} s: passed (blue), asked (gray), limit (orange)</text>
</svg>
`;
}

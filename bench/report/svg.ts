/** One line of a plot. */
export interface Series {
  readonly name: string;
  readonly points: readonly (readonly [x: number, y: number])[];
}

export interface Plot {
  readonly title: string;
  /** Label of the horizontal axis, which is logarithmic. */
  readonly x: string;
  /** Label of the vertical axis, which starts at 0. */
  readonly y: string;
  readonly series: readonly Series[];
}

const WIDTH = 640;
const HEIGHT = 320;
const LEFT = 64;
const RIGHT = 16;
const TOP = 40;
const BOTTOM = 72;
/** Distinguishable in print and with color blindness (Okabe and Ito). */
const COLORS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7"];
const DASHES = ["", "6 3", "2 3", "8 3 2 3"];

/** Draws a line plot as an SVG document for light and dark pages. */
export function plotSvg({ title, x, y, series }: Plot): string {
  const xs = series.flatMap(({ points }) => points.map(([at]) => at));
  const highest = Math.max(...series.flatMap(({ points }) => points.map(([, value]) => value)));
  const step = niceStep(highest / 4);
  const top = Math.ceil(highest / step) * step;
  const [first, last] = [Math.log10(Math.min(...xs)), Math.log10(Math.max(...xs))];
  const across = (at: number): number =>
    LEFT + ((Math.log10(at) - first) / (last - first || 1)) * (WIDTH - LEFT - RIGHT);
  const up = (value: number): number => HEIGHT - BOTTOM - (value / top) * (HEIGHT - TOP - BOTTOM);
  const parts: string[] = [];
  for (let value = 0; value <= top + step / 2; value += step) {
    const at = up(value).toFixed(1);
    parts.push(`<line class="grid" x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${at}" y2="${at}"/>`);
    parts.push(text(LEFT - 8, Number(at) + 4, shown(value), "end"));
  }
  for (const at of [...new Set(xs)].sort((a, b) => a - b))
    parts.push(text(across(at), HEIGHT - BOTTOM + 18, at.toLocaleString("en"), "middle"));
  for (const [index, { name, points }] of series.entries()) {
    const color = COLORS[index % COLORS.length]!;
    const places = points.map(([at, value]) => [across(at).toFixed(1), up(value).toFixed(1)] as const);
    const line = places.map((place) => place.join(",")).join(" ");
    const dash = DASHES[index % DASHES.length];
    parts.push(
      `<polyline points="${line}" fill="none" stroke="${color}" stroke-width="2"${dash && ` stroke-dasharray="${dash}"`}/>`,
    );
    for (const [cx, cy] of places) parts.push(`<circle cx="${cx}" cy="${cy}" r="3" fill="${color}"/>`);
    const from = LEFT + index * 260;
    parts.push(
      `<line x1="${from}" x2="${from + 24}" y1="${HEIGHT - 14}" y2="${HEIGHT - 14}" stroke="${color}" stroke-width="2"${dash && ` stroke-dasharray="${dash}"`}/>`,
      text(from + 30, HEIGHT - 10, name, "start"),
    );
  }
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${escaped(title)}">
<style>
text { font: 12px system-ui, sans-serif; fill: #444 }
.title { font-weight: 600; font-size: 14px }
.grid { stroke: #8884 }
@media (prefers-color-scheme: dark) { text { fill: #ccc } }
</style>
<text class="title" x="${LEFT}" y="22">${escaped(title)}</text>
${parts.join("\n")}
${text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - BOTTOM + 38, x, "middle")}
<text transform="translate(16 ${(HEIGHT - BOTTOM + TOP) / 2}) rotate(-90)" text-anchor="middle">${escaped(y)}</text>
</svg>
`;
}

function text(x: number, y: number, content: string, anchor: string): string {
  return `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" text-anchor="${anchor}">${escaped(content)}</text>`;
}

function shown(value: number): string {
  return String(Number(value.toPrecision(3)));
}

/** Returns 1, 2 or 5 times a power of ten, at least `least`. */
function niceStep(least: number): number {
  const power = 10 ** Math.floor(Math.log10(least));
  return [1, 2, 5, 10].map((times) => times * power).find((step) => step >= least)!;
}

function escaped(content: string): string {
  return content.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);
}

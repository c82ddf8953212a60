import type { History } from "../src/dashboard/messages.ts";
import { rate } from "./format.ts";

interface SparklineProps {
  readonly history: History;
  readonly width: number;
  readonly height: number;
  readonly label: string;
}

/** Hits per second as a grey area, refused ones as a red one, over the last five minutes. */
export function Sparkline({ history, width, height, label }: SparklineProps) {
  const { hits, refused } = history;
  const top = Math.max(...hits, ...refused, 0.001);
  const most = `${label}: at most ${rate(Math.max(...hits, 0))} hits/s and ${rate(Math.max(...refused, 0))} refused/s in the last 5 minutes`;
  return (
    <svg
      class="sparkline"
      role="img"
      aria-label={most}
      viewBox={`0 0 ${width} ${height}`}
      width={width}
      height={height}
      preserveAspectRatio="none"
    >
      <title>{most}</title>
      <path class="hits" d={area(hits, top, width, height)} />
      <path class="refused" d={area(refused, top, width, height)} />
    </svg>
  );
}

function area(points: readonly number[], top: number, width: number, height: number): string {
  if (points.length < 2) return "";
  const step = width / (points.length - 1);
  const line = points.map((value, index) => {
    const y = height - (value / top) * (height - 1);
    return `${round(index * step)},${round(y)}`;
  });
  return `M0,${height}L${line.join("L")}L${width},${height}Z`;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

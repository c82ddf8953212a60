import type { Frame } from "../src/dashboard/messages.ts";
import { milliseconds, rate } from "./format.ts";
import { Sparkline } from "./sparkline.tsx";

/** The figures of the whole service. */
export function Overview({ frame }: { frame: Frame }) {
  const { rates, calls, history } = frame;
  const errors = calls.errors.reduce((sum, [, perSecond]) => sum + perSecond, 0);
  return (
    <section class="overview" aria-label="All rules">
      <div class="tile chart">
        <h2>Hits and refusals, 5 minutes</h2>
        <Sparkline history={history} width={600} height={64} label="All rules" />
      </div>
      <Tile name="Hits" value={`${rate(rates.hits)}/s`} />
      <Tile name="Refused" value={`${rate(rates.refused)}/s`} tone={rates.refused > 0 ? "over" : ""} />
      <Tile name="Near limit" value={`${rate(rates.near)}/s`} tone={rates.near > 0 ? "near" : ""} />
      <Tile name="gRPC calls" value={`${rate(calls.perSecond)}/s`} />
      <Tile name="p99" value={milliseconds(calls.p99Ms)} />
      <Tile name="Errors" value={`${rate(errors)}/s`} tone={errors > 0 ? "over" : ""} />
    </section>
  );
}

function Tile({ name, value, tone = "" }: { name: string; value: string; tone?: string }) {
  return (
    <div class="tile">
      <h2>{name}</h2>
      <b class={tone}>{value}</b>
    </div>
  );
}

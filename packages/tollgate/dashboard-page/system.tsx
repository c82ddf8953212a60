import type { ComponentChildren } from "preact";
import type { Frame } from "../src/dashboard/messages.ts";
import { bytes, count, duration, milliseconds, percent, rate } from "./format.ts";

/** Store, breaker, pools, threads, event loop, memory. */
export function SystemState({ frame }: { frame: Frame }) {
  const { store, process, calls, faults } = frame;
  return (
    <section id="state" class="panel" aria-labelledby="state-title">
      <header>
        <h2 id="state-title">State</h2>
      </header>
      <div class="columns">
        <section>
          <h3>Service</h3>
          <dl>
            <Item name="Health" tone={faults.length === 0 ? "good" : "over"}>
              {faults.length === 0 ? "OK" : faults.join("; ")}
            </Item>
            <Item name="Store">{store.kind}</Item>
            {store.failureMode !== undefined && (
              <>
                <Item name="Circuit breaker" tone={store.degraded ? "over" : "good"}>
                  {store.degraded ? `open for ${duration(store.degradedSeconds ?? 0)}` : "closed"}
                </Item>
                <Item name="If the store fails">{store.failureMode}</Item>
                <Item name="Store errors" tone={store.errorsPerSecond > 0 ? "over" : ""}>
                  {rate(store.errorsPerSecond)}/s
                </Item>
              </>
            )}
            <Item name="Response time">
              p50 {milliseconds(calls.p50Ms)}, p99 {milliseconds(calls.p99Ms)}
            </Item>
            {calls.errors.map(([kind, , total]) => (
              <Item key={kind} name={kind}>
                {count(total)} since the start
              </Item>
            ))}
          </dl>
        </section>
        <section>
          <h3>Process</h3>
          <dl>
            <Item name="Up for">{duration(process.uptimeSeconds)}</Item>
            <Item name="Memory">{bytes(process.rss)}</Item>
            <Item name="Heap">
              {bytes(process.heapUsed)} of {bytes(process.heapTotal)}
            </Item>
            <Item name="Buffers">{bytes(process.external)}</Item>
            <Item name="Event loop lag" tone={process.lagP99Ms > 100 ? "over" : ""}>
              p99 {milliseconds(process.lagP99Ms)}, max {milliseconds(process.lagMaxMs)}
            </Item>
            {process.threads.map(({ name, utilization, connections }) => (
              <Item key={name} name={`Thread ${name}`} tone={utilization > 0.9 ? "over" : ""}>
                {percent(utilization, 1)} busy
                {connections !== undefined &&
                  `, ${connections} ${connections === 1 ? "connection" : "connections"}`}
              </Item>
            ))}
          </dl>
        </section>
        <section>
          <h3>Store, pools, cache</h3>
          <dl class="totals">
            {store.gauges.map(([name, value]) => (
              <Item key={name} name={name} mono>
                {/bytes/i.test(name) ? bytes(value) : count(Math.round(value * 1000) / 1000)}
              </Item>
            ))}
          </dl>
        </section>
      </div>
    </section>
  );
}

interface ItemProps {
  readonly name: string;
  readonly tone?: string;
  readonly mono?: boolean;
  readonly children: ComponentChildren;
}

function Item({ name, tone = "", mono = false, children }: ItemProps) {
  return (
    <div>
      <dt class={mono ? "mono" : ""}>{name}</dt>
      <dd class={tone}>{children}</dd>
    </div>
  );
}

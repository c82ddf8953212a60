import assert from "node:assert/strict";
import { test } from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import type { SpanExporter } from "@opentelemetry/sdk-trace";
import { createLogger } from "../log.ts";
import { OpenTelemetryTracing } from "./opentelemetry.ts";
import type { TraceAttributes } from "./tracing.ts";

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

function heapUsed(): number {
  collectGarbage();
  collectGarbage();
  return process.memoryUsage().heapUsed;
}

/** Completes no export before `release`, so that the queue fills. An unfinished export keeps the process for 30 s. */
class StuckExporter implements SpanExporter {
  readonly #waiting: (() => void)[] = [];
  #isReleased = false;

  export(_spans: unknown, done: (result: { code: number }) => void): void {
    const complete = () => done({ code: 0 });
    if (this.#isReleased) complete();
    else this.#waiting.push(complete);
  }

  release(): void {
    this.#isReleased = true;
    for (const complete of this.#waiting.splice(0)) complete();
  }

  async shutdown(): Promise<void> {}
}
const CALLS = 500;
const LONG = 200_000;
/** Maximum bytes of one call: its two spans with their bounded texts. */
const CALL_BYTES = 16 * 1024;

/** A long text with its own buffer, like a decoded one. */
const long = (call: number, length = LONG): string =>
  Buffer.from(`${call},`.padEnd(length, "x")).toString("latin1");

const parent = `00-${"a".repeat(32)}-${"b".repeat(16)}-01`;

const cases: Readonly<Record<string, (tracing: OpenTelemetryTracing, call: number) => void>> = {
  "attributes of a call": (tracing, call) => {
    const trace = tracing.startCall("name", () => undefined, { first: long(call) })!;
    trace.set({ second: long(call) });
    trace.end();
  },
  "attributes of a part of a call": (tracing, call) => {
    const trace = tracing.startCall("name", () => undefined, {})!;
    trace.child("part", { domain: long(call) }).end();
    trace.end();
  },
  "errors of a call": (tracing, call) => {
    tracing.startCall("name", () => undefined, {})!.end(long(call));
  },
  "attributes of a round trip": (tracing, call) => {
    const trace = tracing.startCall("name", () => undefined, {})!;
    tracing.startRoundTrip("trip", [trace], { key: long(call) })!.end();
    trace.end();
  },
  "headers of a call": (tracing, call) => {
    const headers: Readonly<Record<string, string>> = {
      traceparent: `${parent}${call % 2 === 0 ? "" : `-${long(call)}`}`,
      tracestate: `a=${long(call)}`,
      baggage: `a=${long(call)}`,
    };
    tracing.startCall("name", (name) => headers[name], {})?.end();
  },
};

for (const [name, make] of Object.entries(cases))
  test(`spans that wait for their exporter keep no long text: ${name}`, async () => {
    const log = createLogger({ level: "panic" });
    const options = {
      protocol: "http",
      serviceName: "s",
      serviceNamespace: "",
      serviceInstanceId: "",
      log,
    } as const;
    const exporter = new StuckExporter();
    const tracing = new OpenTelemetryTracing(exporter, { ...options, samplingRate: 1 });
    make(tracing, 0);
    const before = heapUsed();
    for (let call = 0; call < CALLS; call++) make(tracing, call);
    const used = heapUsed() - before;
    assert.ok(used < CALLS * CALL_BYTES, `${Math.round(used / CALLS)} bytes a call`);
    const attributes: TraceAttributes = { kept: "short", number: 1, flag: true };
    assert.doesNotThrow(() => tracing.startCall("name", () => undefined, attributes)!.end());
    exporter.release();
    await tracing.close(60_000);
  });

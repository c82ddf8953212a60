import assert from "node:assert/strict";
import { AsyncLocalStorage } from "node:async_hooks";
import { after, before, test } from "node:test";
import {
  type Attributes,
  type Context,
  type ContextManager,
  context,
  metrics,
  propagation,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
} from "@opentelemetry/api";
import { W3CTraceContextPropagator } from "@opentelemetry/core";
import { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } from "@opentelemetry/sdk-trace";
import { Controller } from "@tollway/waymark";
import { telemetry } from "@tollway/waymark/kit/telemetry";
import { applicationWith, ask, Default } from "./support.fixture.ts";

const exporter = new InMemorySpanExporter();
const durations: { value: number; attributes: Attributes }[] = [];

/** Keeps the context over promises, as the SDK's manager does. */
class Contexts implements ContextManager {
  readonly #storage = new AsyncLocalStorage<Context>();
  active = () => this.#storage.getStore() ?? ROOT_CONTEXT;
  with<A extends unknown[], F extends (...args: A) => ReturnType<F>>(
    active: Context,
    run: F,
    self?: ThisParameterType<F>,
    ...args: A
  ): ReturnType<F> {
    return this.#storage.run(active, () => run.call(self as never, ...args));
  }
  bind = <T>(_: Context, target: T): T => target;
  enable = () => this;
  disable = () => this;
}

before(() => {
  context.setGlobalContextManager(new Contexts());
  trace.setGlobalTracerProvider(
    new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] }),
  );
  metrics.setGlobalMeterProvider({
    getMeter: () =>
      ({
        createHistogram: (name: string) => ({
          record: (value: number, attributes: Attributes) => {
            assert.equal(name, "http.server.request.duration");
            durations.push({ value, attributes });
          },
        }),
      }) as never,
  });
  propagation.setGlobalPropagator(new W3CTraceContextPropagator());
});

after(() => {
  for (const api of [context, trace, metrics, propagation]) api.disable();
});

function reset(): void {
  exporter.reset();
  durations.length = 0;
}

test("every request is a span with its route, status and trace, and a duration", async () => {
  const part = telemetry();
  class Books extends Controller {
    GET(id?: number) {
      part.spanOf(this)!.setAttributes({ "book.id": id ?? 0 });
      if (id === 13) throw new Error("broken");
      return id;
    }
    async POST() {
      await Promise.resolve();
      trace.getTracer("database").startSpan("query").end();
    }
  }
  const application = applicationWith([part], { Default, Books });
  const rows: [string, string, string, string, Attributes, boolean][] = [
    ["GET", "/books/7?secret=1", "GET /books", "/books", { "http.response.status_code": 400 }, false],
    ["GET", "/books/7", "GET /books", "/books", { "http.response.status_code": 200, "book.id": 7 }, false],
    [
      "GET",
      "/books/13",
      "GET /books",
      "/books",
      { "http.response.status_code": 500, "error.type": "500" },
      true,
    ],
    ["GET", "/a/b/c", "GET /", "/", { "http.response.status_code": 404 }, false],
    [
      "BREW",
      "/books",
      "HTTP /books",
      "/books",
      { "http.response.status_code": 501, "error.type": "501" },
      true,
    ],
  ];
  for (const [method, target, name, route, attributes, isError] of rows) {
    reset();
    const traceparent = `00-${"a".repeat(32)}-${"b".repeat(16)}-01`;
    const response = await ask(application, target, {
      method,
      headers: { traceparent, "user-agent": "test/1" },
    });
    const [span, ...others] = exporter.getFinishedSpans();
    assert.deepEqual([span!.name, span!.kind, others], [name, SpanKind.SERVER, []]);
    assert.equal(span!.spanContext().traceId, "a".repeat(32));
    assert.equal(span!.parentSpanContext?.spanId, "b".repeat(16));
    const known = method === "BREW" ? "_OTHER" : method;
    const expected: Attributes = {
      "http.request.method": known,
      ...(known === "_OTHER" && { "http.request.method_original": method }),
      "url.path": target.split("?")[0]!,
      "url.scheme": "http",
      "user_agent.original": "test/1",
      "http.route": route,
      "http.response.body.size": (await response.bytes()).length,
      ...attributes,
    };
    assert.deepEqual(span!.attributes, { ...span!.attributes, ...expected });
    assert.ok(!JSON.stringify(span!.attributes).includes("secret"));
    assert.equal(span!.status.code, isError ? SpanStatusCode.ERROR : SpanStatusCode.UNSET);
    assert.equal(span!.events.length, isError ? 1 : 0);
    const [duration] = durations;
    assert.ok(duration!.value >= 0 && duration!.value < 60);
    const { "book.id": _, ...measured } = attributes;
    assert.deepEqual(duration!.attributes, {
      "http.request.method": known,
      "url.scheme": "http",
      "http.route": route,
      ...measured,
    });
  }
  reset();
  await ask(application, "/books", { method: "POST" });
  const [query, request] = exporter.getFinishedSpans();
  assert.equal(
    query!.parentSpanContext?.spanId,
    request!.spanContext().spanId,
    "a span of the method is a child",
  );
});

test("a stream's span ends with the stream, and a request can be left out", async () => {
  reset();
  const part = telemetry({ skip: ({ path }) => path === "/json" });
  const application = applicationWith([part]);
  const response = await ask(application, "/stream");
  assert.equal(exporter.getFinishedSpans().length, 0);
  await response.text();
  assert.equal(exporter.getFinishedSpans()[0]!.attributes["http.response.body.size"], 6);
  const left = await ask(application, "/stream");
  await left.body!.cancel();
  const cut = exporter.getFinishedSpans()[1]!;
  assert.deepEqual([cut.status.code, cut.attributes["error.type"]], [SpanStatusCode.ERROR, "incomplete"]);
  reset();
  assert.equal((await ask(application, "/json")).status, 200);
  assert.equal(exporter.getFinishedSpans().length, 0);
});

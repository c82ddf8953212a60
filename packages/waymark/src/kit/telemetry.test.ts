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
  type Span,
  type SpanOptions,
  type SpanStatus,
  trace,
} from "@opentelemetry/api";
import { Controller } from "@tollway/waymark";
import { telemetry } from "@tollway/waymark/kit/telemetry";
import { applicationWith, ask, Default } from "./support.fixture.ts";

/** What a provider has recorded of a span. */
interface Recorded {
  name: string;
  attributes: Attributes;
  traceId: string;
  parent: string | undefined;
  status?: SpanStatus;
  exceptions: string[];
  ended: boolean;
}

const spans: Recorded[] = [];
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

function startSpan(
  name: string,
  { attributes = {} }: SpanOptions = {},
  parent: Context = context.active(),
): Span {
  const above = trace.getSpanContext(parent);
  const recorded: Recorded = {
    name,
    attributes: { ...attributes },
    traceId: above?.traceId ?? "1".repeat(32),
    parent: above?.spanId,
    exceptions: [],
    ended: false,
  };
  spans.push(recorded);
  const span = {
    spanContext: () => ({
      traceId: recorded.traceId,
      spanId: String(spans.length).padStart(16, "0"),
      traceFlags: 1,
    }),
    updateName: (changed: string) => {
      recorded.name = changed;
    },
    setAttributes: (more: Attributes) => void Object.assign(recorded.attributes, more),
    setStatus: (status: SpanStatus) => {
      recorded.status = status;
    },
    recordException: (error: Error) => void recorded.exceptions.push(error.message),
    end: () => {
      recorded.ended = true;
    },
  };
  return span as unknown as Span;
}

before(() => {
  context.setGlobalContextManager(new Contexts());
  trace.setGlobalTracerProvider({ getTracer: () => ({ startSpan }) as never });
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
  propagation.setGlobalPropagator({
    inject: () => undefined,
    fields: () => ["traceparent"],
    extract(given, carrier, getter) {
      const [, traceId, spanId] =
        /^00-(\w{32})-(\w{16})-01$/.exec(String(getter.get(carrier, "traceparent"))) ?? [];
      if (traceId === undefined || spanId === undefined) return given;
      assert.ok(getter.keys(carrier).includes("traceparent"));
      return trace.setSpanContext(given, { traceId, spanId, traceFlags: 1, isRemote: true });
    },
  });
});

after(() => {
  for (const api of [context, trace, metrics, propagation]) api.disable();
});

function reset(): void {
  spans.length = 0;
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
      startSpan("query");
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
    const [span] = spans;
    assert.equal(spans.length, 1);
    assert.deepEqual([span!.name, span!.ended], [name, true]);
    assert.deepEqual([span!.traceId, span!.parent], ["a".repeat(32), "b".repeat(16)]);
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
    assert.equal(span!.status?.code, isError ? 2 : undefined);
    assert.deepEqual(span!.exceptions.length, isError ? 1 : 0);
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
  assert.equal(spans[1]!.parent, `${"0".repeat(15)}1`, "a span of the method is a child");
});

test("a stream's span ends with the stream, and a request can be left out", async () => {
  reset();
  const part = telemetry({ skip: ({ path }) => path === "/json" });
  const application = applicationWith([part]);
  const response = await ask(application, "/stream");
  assert.equal(spans[0]!.ended, false);
  await response.text();
  assert.deepEqual([spans[0]!.ended, spans[0]!.attributes["http.response.body.size"]], [true, 6]);
  const left = await ask(application, "/stream");
  await left.body!.cancel();
  assert.deepEqual([spans[1]!.status?.code, spans[1]!.attributes["error.type"]], [2, "incomplete"]);
  reset();
  assert.equal((await ask(application, "/json")).status, 200);
  assert.equal(spans.length, 0);
});

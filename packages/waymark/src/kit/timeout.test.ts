import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";
import { Controller } from "@tollway/waymark";
import { timeout, within } from "@tollway/waymark/kit";
import { scaled } from "../../../../tools/time-scale.ts";
import { applicationWith, ask, Default } from "./support.fixture.ts";

const FAR = scaled(60_000);

test("a request that takes too long is a 503, its signal aborts, and its late stream is released", async () => {
  const aborted = Promise.withResolvers<unknown>();
  const released = Promise.withResolvers<void>();
  class Slow extends Controller {
    async GET() {
      await once(this.signal, "abort");
      aborted.resolve(this.signal.reason);
      return new ReadableStream({
        pull: (controller) => controller.enqueue(new Uint8Array(1)),
        cancel: () => released.resolve(),
      });
    }
  }
  const application = applicationWith([timeout({ after: 5 })], { Slow });
  const response = await ask(application, "/slow");
  assert.equal(response.status, 503);
  assert.equal(((await response.json()) as { detail: string }).detail, "the request took longer than 5 ms");
  assert.equal(((await aborted.promise) as DOMException).name, "TimeoutError");
  await released.promise;
});

test("answers in time, streams that have begun, and requests without a limit pass", async () => {
  class Later extends Controller {
    async GET() {
      return new Promise((resolve) => setTimeout(resolve, 20, "late"));
    }
  }
  const rows = [
    [timeout({ after: FAR }), "/json", 200],
    [timeout({ after: FAR }), "/stream", 200],
    [timeout({ after: 1, for: ({ path }) => (path === "/later" ? 0 : undefined) }), "/later", 200],
    [timeout({ after: 1, status: 504, for: () => 2 }), "/later", 504],
  ] as const;
  for (const [part, path, status] of rows) {
    const response = await ask(applicationWith([part], { Default, Later }), path);
    assert.equal(response.status, status);
    await response.text();
  }
  for (const after of [0, -1, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 31])
    assert.throws(() => timeout({ after }), /milliseconds/);
});

test("within: the work's result, its error, or a 504 and an aborted signal", async () => {
  const reason = Promise.withResolvers<DOMException>();
  class Steps extends Controller {
    async GET(kind: string) {
      if (kind === "quick") return within(this, FAR, async () => 1);
      if (kind === "broken")
        return within(this, FAR, () => Promise.reject(new Response("no", { status: 418 })));
      return within(this, 5, async (signal) => {
        await once(signal, "abort");
        reason.resolve(signal.reason as DOMException);
        await new Promise(() => undefined);
      });
    }
  }
  const application = applicationWith([], { Steps });
  for (const [kind, status] of [
    ["quick", 200],
    ["broken", 418],
    ["slow", 504],
  ] as const)
    assert.equal((await ask(application, `/steps/${kind}`)).status, status);
  assert.equal((await reason.promise).name, "TimeoutError");
});

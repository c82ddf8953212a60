import assert from "node:assert/strict";
import { PassThrough, Readable } from "node:stream";
import { test } from "node:test";
import { type BodySource, sourceOf } from "./body-source.ts";

interface Origin {
  readonly value: object;
  /** Numbers of times that the origin was opened and released. */
  readonly counts: { opened: number; released: number };
}

function origins(): Record<string, Origin> {
  const counts = () => ({ opened: 0, released: 0 });
  const web = counts();
  const node = counts();
  const generator = counts();
  const iterable = counts();
  return {
    "a ReadableStream": {
      counts: web,
      value: new ReadableStream(
        {
          pull(controller) {
            web.opened++;
            controller.enqueue("piece");
          },
          cancel: () => void web.released++,
        },
        { highWaterMark: 0 },
      ),
    },
    "a Node stream": {
      counts: node,
      value: new Readable({
        read() {
          node.opened++;
          this.push("piece");
        },
        destroy(_error, done) {
          node.released++;
          done(null);
        },
      }),
    },
    "a generator": {
      counts: generator,
      value: (async function* () {
        generator.opened++;
        try {
          for (;;) yield "piece";
        } finally {
          generator.released++;
        }
      })(),
    },
    "an async iterable": {
      counts: iterable,
      value: {
        [Symbol.asyncIterator]() {
          iterable.opened++;
          return {
            next: async () => ({ done: false, value: "piece" }),
            return: async () => {
              iterable.released++;
              return { done: true, value: undefined };
            },
          };
        },
      },
    },
  };
}

test("return() releases an origin once, before its first piece, after a peek, and between two pieces", async () => {
  const steps: ((source: BodySource) => Promise<unknown>)[] = [
    async () => undefined,
    (source) => source.peek(),
    async (source) => [await source.peek(), await source.next(), await source.next()],
  ];
  for (const [at, take] of steps.entries()) {
    for (const [name, { value, counts }] of Object.entries(origins())) {
      const source = sourceOf(value)!;
      await take(source);
      await source.return();
      await source.return();
      assert.deepEqual(await source.next(), { done: true, value: undefined }, name);
      if (at === 0) assert.equal(counts.opened, 0, `${name} was opened`);
      // A generator that never ran has nothing to release.
      const nothing = at === 0 && (name === "a generator" || name === "an async iterable");
      assert.equal(counts.released, nothing ? 0 : 1, `${name}, step ${at}`);
    }
  }
});

test("return() ends a pending next()", async () => {
  const never = { [Symbol.asyncIterator]: () => ({ next: () => new Promise<never>(() => undefined) }) };
  for (const value of [never, new PassThrough(), new ReadableStream()]) {
    const source = sourceOf(value)!;
    const waiting = source.next();
    await source.return();
    assert.deepEqual(await waiting, { done: true, value: undefined });
  }
});

test("an error of the origin that nothing handles does not end the process", async () => {
  const unhandled: unknown[] = [];
  const note = (error: unknown) => unhandled.push(error);
  process.on("unhandledRejection", note);
  process.on("uncaughtException", note);
  const stream = new PassThrough();
  const source = sourceOf(stream)!;
  const failing = sourceOf({
    [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(new Error("x")) }),
  });
  void failing!.peek();
  void source.peek();
  stream.destroy(new Error("too late"));
  await source.return();
  await new Promise((resolve) => setTimeout(resolve, 5));
  process.off("unhandledRejection", note);
  process.off("uncaughtException", note);
  assert.deepEqual(unhandled, []);
});

test("a piece that is neither text nor bytes is an error and releases the stream", async () => {
  const stream = Readable.from([
    new Uint8Array([1]),
    new Uint16Array([2]),
    new ArrayBuffer(3),
    "x",
    { a: 1 },
  ]);
  const source = sourceOf(stream)!;
  const lengths = [];
  for (let at = 0; at < 4; at++) lengths.push((await source.next()).value?.length);
  assert.deepEqual(lengths, [1, 2, 3, 1]);
  await assert.rejects(source.next(), /must consist of text and bytes, but a piece of this one is object/);
  assert.equal(stream.destroyed, true);
});

test("data is not a stream", () => {
  for (const value of [[], {}, new Map(), new Uint8Array(), { pipe: () => undefined }])
    assert.equal(sourceOf(value), undefined);
});

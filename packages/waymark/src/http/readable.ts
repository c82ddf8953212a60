/** An iterable as a stream of bytes, at the reader's pace. Not every runtime has `ReadableStream.from`. */
export function readableOf(pieces: AsyncIterable<Uint8Array | string>): ReadableStream<Uint8Array> {
  let iterator: AsyncIterator<Uint8Array | string> | undefined;
  const encoder = new TextEncoder();
  const open = () => {
    iterator ??= pieces[Symbol.asyncIterator]();
    return iterator;
  };
  return new ReadableStream(
    {
      async pull(controller) {
        const step = await open().next();
        if (step.done === true) controller.close();
        else controller.enqueue(typeof step.value === "string" ? encoder.encode(step.value) : step.value);
      },
      async cancel() {
        await open().return?.();
      },
    },
    { highWaterMark: 0 },
  );
}

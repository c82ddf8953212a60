/** The items of a stream, each changed. Opens and ends the stream exactly when its user does. */
export function mapItems(
  items: AsyncIterable<unknown> | Iterable<unknown>,
  map: (item: unknown) => unknown,
): AsyncIterable<unknown> {
  return {
    [Symbol.asyncIterator]() {
      const iterator: AsyncIterator<unknown> | Iterator<unknown> =
        Symbol.asyncIterator in items ? items[Symbol.asyncIterator]() : items[Symbol.iterator]();
      return {
        async next() {
          const step = await iterator.next();
          return step.done === true ? step : { done: false, value: map(step.value) };
        },
        async return() {
          await iterator.return?.();
          return { done: true, value: undefined };
        },
      };
    },
  };
}

/** Does work that yields often at once, and returns its result. */
export function completed<Result>(work: Generator<void, Result>): Result {
  let step = work.next();
  while (!step.done) step = work.next();
  return step.value;
}

/**
 * Calls a function in the next turn of the event loop. Returns a function that cancels it. Some runtimes do not have
 * `setImmediate`.
 */
export function nextTurn(callback: () => void): () => void {
  if (typeof setImmediate === "function") {
    const turn = setImmediate(callback);
    return () => clearImmediate(turn);
  }
  const turn = setTimeout(callback, 0);
  return () => clearTimeout(turn);
}

import { isTimeUp } from "../../../../tools/time-scale.ts";
import { StoreError } from "../../src/counters/store.ts";

/**
 * Makes a call of the embedded store, and repeats it while another thread holds a lock for longer than the store waits. Such a
 * call counts nothing. A machine with more threads than cores may not run the holder for half a second.
 */
export function retried(call: () => void): void {
  const begun = performance.now();
  for (;;)
    try {
      call();
      return;
    } catch (error) {
      if (!(error instanceof StoreError) || error.code !== "STORE_UNAVAILABLE" || isTimeUp(begun, 10_000))
        throw error;
    }
}

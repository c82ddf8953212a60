/** For a figure, a thread uses at least so much CPU. */
const LEAST_MICROSECONDS = 200_000;
const BATCH = 5000;

/** Warms `run` up, then measures the nanoseconds of this thread's CPU per call, one figure per round. */
export function cpuNanoseconds(rounds: number, run: (call: number) => void): number[] {
  let calls = 0;
  const warming = threadMicroseconds();
  do {
    for (let call = 0; call < BATCH; call++) run(calls + call);
    calls += BATCH;
  } while (threadMicroseconds() - warming < LEAST_MICROSECONDS);
  return Array.from({ length: rounds }, () => {
    let done = 0;
    const start = threadMicroseconds();
    let used = 0;
    do {
      for (let call = 0; call < calls; call++) run(done + call);
      done += calls;
      used = threadMicroseconds() - start;
    } while (used < LEAST_MICROSECONDS);
    return (used / done) * 1000;
  });
}

/**
 * This thread's CPU. Linux may update a thread's figure only every 4 ms. A question for that of the process updates it at
 * once.
 */
export function threadMicroseconds(): number {
  process.cpuUsage();
  const { user, system } = process.threadCpuUsage();
  return user + system;
}

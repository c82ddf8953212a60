/** Some machines count a thread's CPU in ticks of 4 ms. With 200 ms, the error is at most 2 %. */
const LEAST_MICROSECONDS = 200_000;
const BATCH = 5000;

/** Warms `run` up, then measures the nanoseconds of this thread's CPU per call, one figure per round. */
export function cpuNanoseconds(rounds: number, run: (call: number) => void): number[] {
  let calls = 0;
  const warming = process.threadCpuUsage();
  do {
    for (let call = 0; call < BATCH; call++) run(calls + call);
    calls += BATCH;
  } while (since(warming) < LEAST_MICROSECONDS);
  return Array.from({ length: rounds }, () => {
    let done = 0;
    const start = process.threadCpuUsage();
    let used = 0;
    do {
      for (let call = 0; call < calls; call++) run(done + call);
      done += calls;
      used = since(start);
    } while (used < LEAST_MICROSECONDS);
    return (used / done) * 1000;
  });
}

function since(start: NodeJS.CpuUsage): number {
  const { user, system } = process.threadCpuUsage(start);
  return user + system;
}

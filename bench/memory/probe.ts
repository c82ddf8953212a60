/** Loaded into a service with `--import`: writes what its memory consists of to a file, several times a second. */
import { writeFileSync } from "node:fs";
import { getHeapSpaceStatistics } from "node:v8";

const file = process.env.BENCH_MEMORY_FILE;
if (file !== undefined)
  setInterval(() => {
    const { heapUsed, heapTotal, external } = process.memoryUsage();
    const spaces = getHeapSpaceStatistics();
    const sizeOf = (pattern: RegExp) =>
      spaces
        .filter(({ space_name }) => pattern.test(space_name))
        .reduce((sum, { physical_space_size }) => sum + physical_space_size, 0);
    writeFileSync(
      file,
      JSON.stringify({
        heapUsed,
        heapTotal,
        external,
        young: sizeOf(/^new/),
        code: sizeOf(/^code/),
      }),
    );
  }, 250).unref();

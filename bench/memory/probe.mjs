/**
 * Loaded into a service with `--import`: each of its threads writes what its heap consists of to a file, several times a
 * second. JavaScript, because Node's compiler of TypeScript would take 20 MiB of the memory that this measures.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { getHeapSpaceStatistics } from "node:v8";
import { threadId } from "node:worker_threads";

const folder = process.env.BENCH_MEMORY_FOLDER;
if (folder !== undefined)
  setInterval(() => {
    const { heapUsed, heapTotal, external } = process.memoryUsage();
    const spaces = getHeapSpaceStatistics();
    const sizeOf = (pattern) =>
      spaces
        .filter(({ space_name }) => pattern.test(space_name))
        .reduce((sum, { physical_space_size }) => sum + physical_space_size, 0);
    const figures = { heapUsed, heapTotal, external, young: sizeOf(/^new/), code: sizeOf(/^code/) };
    writeFileSync(join(folder, `${threadId}.json`), JSON.stringify(figures));
  }, 250).unref();

/** The entry of the bundle: the command line in the main thread, the compiler of rules or the gRPC service in the others. */
import { basename } from "node:path";
import { isMainThread, workerData } from "node:worker_threads";
import { COMPILER_DATA } from "../src/sources/compiler-data.ts";

/** The Go service's programs, as names of this one. */
const PROGRAMS: Readonly<Record<string, string>> = {
  ratelimit: "serve",
  ratelimit_client: "client",
  ratelimit_config_check: "check",
};

if (isMainThread) {
  const { main } = await import("../src/commands/main.ts");
  const [, program = "", ...args] = process.argv;
  const command = PROGRAMS[basename(program)];
  process.exitCode = await main(command === undefined ? args : [command, ...args]);
} else if (workerData === COMPILER_DATA) await import("../src/sources/compiler-thread.ts");
else await import("../src/service/threads/thread.ts");

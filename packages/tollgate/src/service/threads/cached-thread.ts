/**
 * The entry of a gRPC thread. Caches compiled code, as `bin/tollgate.mjs` does for the main thread: without it each thread
 * compiles all modules again, which takes three times the CPU.
 */
import { enableCompileCache } from "node:module";

enableCompileCache();
await import("./thread.ts");

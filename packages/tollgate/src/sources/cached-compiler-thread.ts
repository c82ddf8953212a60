/** The entry of the thread that compiles rules. Caches compiled code, as `bin/tollgate.mjs` does for the main thread. */
import { enableCompileCache } from "node:module";

enableCompileCache();
await import("./compiler-thread.ts");

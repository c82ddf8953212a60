import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

// The same relative paths hold for the sources (`src`) and for the published package (`dist`). The bundle replaces this
// module by `image/installation.ts`.

/** The folder of the example configuration. */
export const EXAMPLES = fileURLToPath(new URL("../examples", import.meta.url));

/** The module that a gRPC thread runs. */
export const THREAD = new URL(
  import.meta.url.endsWith(".ts")
    ? "./service/threads/cached-thread.ts"
    : "./service/threads/cached-thread.js",
  import.meta.url,
);

/** The module that the thread runs which compiles rules. */
export const COMPILER_THREAD = new URL(
  import.meta.url.endsWith(".ts")
    ? "./sources/cached-compiler-thread.ts"
    : "./sources/cached-compiler-thread.js",
  import.meta.url,
);

export function readVersion(): string {
  const manifest = new URL("../package.json", import.meta.url);
  return (JSON.parse(readFileSync(manifest, "utf8")) as { version: string }).version;
}

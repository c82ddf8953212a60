/** The installation that is a bundle: a folder of modules with the launcher and the examples beside it. Takes the place of `src/installation.ts`. */
import { fileURLToPath } from "node:url";
import manifest from "../package.json" with { type: "json" };

export const EXAMPLES = fileURLToPath(new URL("../examples", import.meta.url));

/** The launcher starts the bundle as a thread, too. Without it, a thread would compile the bundle without the cache. */
export const THREAD = new URL("../launcher.mjs", import.meta.url);

export const COMPILER_THREAD = new URL("../launcher.mjs", import.meta.url);

export function readVersion(): string {
  return manifest.version;
}

import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { command } from "../test/support/packed.ts";

/** The packages of the repository. */
export const MODULES = fileURLToPath(new URL("../../../node_modules", import.meta.url));

/** Gives a folder the repository's copy of the bundler, in place of `npm install --save-dev esbuild`. */
export function linkBundler(folder: string): void {
  mkdirSync(join(folder, "node_modules", ".bin"), { recursive: true });
  for (const path of ["esbuild", ".bin/esbuild"])
    symlinkSync(join(MODULES, path), join(folder, "node_modules", path));
}

/** Runs the installed command to its end. Rejects with its output if it fails. */
export function waymark(folder: string, ...args: string[]): Promise<string> {
  return command(
    folder,
    process.execPath,
    join("node_modules", "@tollway", "waymark", "bin", "waymark.mjs"),
    ...args,
  );
}

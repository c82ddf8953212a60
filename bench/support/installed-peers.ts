/**
 * The peers that benchmarks compare with, in `bench/node_modules`: `npm ci` of the repository does not bring them.
 * As a command, installs them.
 */
import { spawnSync } from "node:child_process";
import { existsSync, statSync } from "node:fs";
import { join } from "node:path";

const folder = join(import.meta.dirname, "..");

/** Installs what `bench/package-lock.json` names, once per version of that file. Ends the process if npm fails. */
export function installPeers(): void {
  // npm writes this file last.
  const installed = join(folder, "node_modules", ".package-lock.json");
  const locked = join(folder, "package-lock.json");
  if (existsSync(installed) && statSync(installed).mtimeMs >= statSync(locked).mtimeMs) return;
  const { error, status } = spawnSync("npm", ["ci", "--prefix", folder], {
    stdio: ["ignore", "ignore", "inherit"],
  });
  if (error === undefined && status === 0) return;
  console.error(
    `npm cannot install the peers of bench/package.json: ${error?.message ?? `exit code ${status}`}`,
  );
  process.exit(1);
}

if (import.meta.main) installPeers();

import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** The runtimes of the suite besides this Node. Their packages for this platform hold the program; no script runs. */
const RELEASES = {
  bun: { name: "@oven/bun-linux-x64-baseline", version: "1.4.5", file: "bin/bun" },
  deno: { name: "@deno/linux-x64-glibc", version: "2.9.6", file: "deno" },
  workerd: { name: "@cloudflare/workerd-linux-64", version: "1.20261117.1", file: "bin/workerd" },
  /** Lambda's runtime interface client, without its native part. */
  ric: { name: "aws-lambda-ric", version: "4.0.2", file: "index.mjs" },
} as const;

const [, year, month, day] = /^1\.(\d{4})(\d\d)(\d\d)\./.exec(RELEASES.workerd.version)!;

/** The compatibility dates of the suite: the oldest that the manual promises, and the newest that this workerd knows. */
export const COMPATIBILITY_DATES = { oldest: "2024-09-01", newest: `${year}-${month}-${day}` } as const;

export type Binaries = Readonly<Record<keyof typeof RELEASES, string>>;

const folder = fileURLToPath(new URL("../../../.suites/runtimes", import.meta.url));

/**
 * Installs the runtimes into a folder of this suite, once.
 * @returns the paths of the programs, or the reason why they could not be installed
 */
export function installRuntimes(): Binaries | { readonly reason: string } {
  if (process.platform !== "linux" || process.arch !== "x64")
    return { reason: `the suite knows no programs for ${process.platform} on ${process.arch}` };
  const releases = Object.values(RELEASES);
  const dependencies = Object.fromEntries(releases.map(({ name, version }) => [name, version]));
  const manifest = JSON.stringify({ private: true, dependencies });
  const path = `${folder}/package.json`;
  if (!existsSync(path) || readFileSync(path, "utf8") !== manifest) {
    mkdirSync(folder, { recursive: true });
    writeFileSync(path, manifest);
    const args = ["install", "--ignore-scripts", "--no-audit", "--no-fund", "--no-package-lock", "--silent"];
    const { status, stderr } = spawnSync("npm", args, { cwd: folder, encoding: "utf8" });
    if (status !== 0) {
      // The next run installs again.
      rmSync(folder, { recursive: true, force: true });
      return { reason: `npm cannot install them: ${stderr.trim().split("\n").at(-1) ?? ""}` };
    }
  }
  const entries = Object.entries(RELEASES).map(([key, { name, file }]) => [
    key,
    `${folder}/node_modules/${name}/${file}`,
  ]);
  return Object.fromEntries(entries) as Binaries;
}

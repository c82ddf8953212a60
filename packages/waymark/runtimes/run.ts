/**
 * `npm run runtimes`: Waymark and its client on Node, Bun, Deno, workerd and Lambda's runtime. Installs the runtimes into their own folder,
 * packs the packages as for publication, then runs the tests of this folder, and those of Tollgate's limits.
 *
 *   npm run runtimes                     fails if the runtimes cannot be installed
 *   npm run runtimes -- --if-available   prints the reason and succeeds in that case
 */
import { spawnSync } from "node:child_process";
import { globSync } from "node:fs";
import { join } from "node:path";
import { installRuntimes } from "./install.ts";

const installed = installRuntimes();
if ("reason" in installed) {
  console.error(`the suite of the runtimes was not run: ${installed.reason}`);
  process.exit(process.argv.includes("--if-available") ? 0 : 1);
}
const { bun, deno, workerd, ric } = installed;
const packages = join(import.meta.dirname, "..", "..");
const files = globSync(`${packages}/{waymark,tollgate}/runtimes/*.test.ts`).sort();
const { status } = spawnSync(
  process.execPath,
  ["--test", "--test-timeout=240000", "--test-concurrency=1", ...files],
  { stdio: "inherit", env: { ...process.env, BUN: bun, DENO: deno, WORKERD: workerd, LAMBDA_RIC: ric } },
);
process.exit(status ?? 1);

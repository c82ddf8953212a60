/**
 * `npm run runtimes`: Waymark and its client on Node, Bun, Deno, workerd and Lambda's runtime. Installs the runtimes into their own folder,
 * packs Waymark as for publication, then runs the tests of this folder.
 *
 *   npm run runtimes                     fails if the runtimes cannot be installed
 *   npm run runtimes -- --if-available   prints the reason and succeeds in that case
 */
import { spawnSync } from "node:child_process";
import { globSync } from "node:fs";
import { installRuntimes } from "./install.ts";

const installed = installRuntimes();
if ("reason" in installed) {
  console.error(`the suite of the runtimes was not run: ${installed.reason}`);
  process.exit(process.argv.includes("--if-available") ? 0 : 1);
}
const { bun, deno, workerd, ric } = installed;
const files = globSync(`${import.meta.dirname}/*.test.ts`).sort();
const { status } = spawnSync(
  process.execPath,
  ["--test", "--test-timeout=240000", "--test-concurrency=1", ...files],
  { stdio: "inherit", env: { ...process.env, BUN: bun, DENO: deno, WORKERD: workerd, LAMBDA_RIC: ric } },
);
process.exit(status ?? 1);

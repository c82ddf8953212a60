/**
 * `npm run envoy`: Tollgate behind a real Envoy. Installs Envoy into its own folder, then runs the tests of this folder.
 *
 *   npm run envoy                     fails if Envoy cannot be installed
 *   npm run envoy -- --if-available   prints the reason and succeeds in that case
 */
import { spawnSync } from "node:child_process";
import { globSync } from "node:fs";
import { installEnvoy } from "./install.ts";

const installed = installEnvoy();
if ("reason" in installed) {
  console.error(`the Envoy suite was not run: ${installed.reason}`);
  process.exit(process.argv.includes("--if-available") ? 0 : 1);
}
const files = globSync(`${import.meta.dirname}/*.test.ts`);
const { status } = spawnSync(process.execPath, ["--test", "--test-timeout=240000", ...files], {
  stdio: "inherit",
  env: { ...process.env, ENVOY: installed.binary },
});
process.exit(status ?? 1);

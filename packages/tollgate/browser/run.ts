/**
 * `npm run browser`: the dashboard and the page of the issue board in a real Chromium. Installs Chromium into its own folder,
 * then runs the tests.
 *
 *   npm run browser                     fails if Chromium cannot be installed
 *   npm run browser -- --if-available   prints the reason and succeeds in that case
 */
import { spawnSync } from "node:child_process";
import { globSync } from "node:fs";
import { join } from "node:path";
import { installChromium } from "../../../tools/chromium/install.ts";

const installed = installChromium();
if ("reason" in installed) {
  console.error(`the browser suite was not run: ${installed.reason}`);
  process.exit(process.argv.includes("--if-available") ? 0 : 1);
}
const root = join(import.meta.dirname, "..", "..", "..");
const files = globSync(["packages/tollgate/browser/*.test.ts", "examples/*/browser/*.test.ts"], {
  cwd: root,
});
const { status } = spawnSync(process.execPath, ["--test", "--test-timeout=240000", ...files], {
  cwd: root,
  stdio: "inherit",
});
process.exit(status ?? 1);

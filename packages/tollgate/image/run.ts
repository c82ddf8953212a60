/**
 * `npm run deploy`: the image's root file system, the Dockerfile, and the files of `deploy/`. Installs the tools into
 * `.suites`, then runs the tests of this folder.
 *
 *   npm run deploy                     fails if a tool cannot be installed, or this user cannot make namespaces
 *   npm run deploy -- --if-available   prints the reason, and runs the tests that need no more than there is
 */
import { spawnSync } from "node:child_process";
import { globSync } from "node:fs";
import { type DeployTool, installTools } from "./tools.ts";

/** The tests that need more than Node, with what they need. */
const NEEDS: Readonly<Record<string, readonly DeployTool[]>> = {
  "image.test.ts": ["unshare"],
  "dockerfile.test.ts": ["hadolint"],
  "chart.test.ts": ["helm", "schemas"],
  "manifests.test.ts": ["schemas"],
  "systemd.test.ts": ["systemd-analyze"],
};

const ifAvailable = process.argv.includes("--if-available");
const available = installTools(!ifAvailable);
const files = globSync("*.test.ts", { cwd: import.meta.dirname })
  .sort()
  .filter((file) => {
    const missing = (NEEDS[file] ?? []).filter((tool) => "reason" in available[tool]);
    for (const tool of missing) {
      const { reason } = available[tool] as { reason: string };
      console.error(`${file} was not run: ${reason}`);
    }
    return missing.length === 0;
  });
const complete = Object.values(available).every((tool) => "command" in tool);
if (!complete && !ifAvailable) process.exit(1);
const commands = Object.entries(available).flatMap(([name, tool]) =>
  "command" in tool ? [[name.toUpperCase().replaceAll("-", "_"), tool.command]] : [],
);
const { status } = spawnSync(
  process.execPath,
  ["--test", "--test-timeout=240000", ...files.map((file) => `${import.meta.dirname}/${file}`)],
  { stdio: "inherit", env: { ...process.env, ...Object.fromEntries(commands) } },
);
process.exit(status ?? 1);

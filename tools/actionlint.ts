/**
 * `npm run actionlint`: checks `.github/workflows` with actionlint, which it builds into a folder of its own through
 * the Go module proxy.
 *
 *   npm run actionlint                     fails where actionlint cannot be built
 *   npm run actionlint -- --if-available   says so and succeeds there
 */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";

const VERSION = "v1.7.12";
const folder = join(import.meta.dirname, "..", ".suites", `actionlint-${VERSION}`);
const command = join(folder, "actionlint");

function build(): string | undefined {
  if (existsSync(command)) return undefined;
  const { error, status, stderr } = spawnSync(
    "go",
    ["install", `github.com/rhysd/actionlint/cmd/actionlint@${VERSION}`],
    { encoding: "utf8", env: { ...process.env, GOBIN: folder } },
  );
  if (error !== undefined) return `go cannot be run: ${error.message}`;
  return status === 0 ? undefined : stderr.trim().split("\n").at(-1);
}

const reason = build();
if (reason !== undefined) {
  console.error(`the workflows were not checked: ${reason}`);
  process.exit(process.argv.includes("--if-available") ? 0 : 1);
}
process.exit(spawnSync(command, [], { stdio: "inherit" }).status ?? 1);

/**
 * `npm run actionlint`: checks `.github/workflows` with actionlint, which it builds into a folder of its own through
 * the Go module proxy.
 *
 *   npm run actionlint                     fails if actionlint cannot be built
 *   npm run actionlint -- --if-available   prints the reason and succeeds in that case
 */
import { spawnSync } from "node:child_process";
import { buildGoTool } from "./go-tools.ts";

const built = buildGoTool("github.com/rhysd/actionlint/cmd/actionlint", "v1.7.12");
if ("reason" in built) {
  console.error(`the workflows were not checked: ${built.reason}`);
  process.exit(process.argv.includes("--if-available") ? 0 : 1);
}
process.exit(spawnSync(built.command, [], { stdio: "inherit" }).status ?? 1);

/** Programs in Go, each built into a folder of its own through the Go module proxy. */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { basename, join } from "node:path";

/**
 * Builds a program once per version.
 * @param name its package, such as `github.com/rhysd/actionlint/cmd/actionlint`
 * @returns the path of the program, or the reason why it could not be built
 */
export function buildGoTool(
  name: string,
  version: string,
): { readonly command: string } | { readonly reason: string } {
  const folder = join(import.meta.dirname, "..", ".suites", `${basename(name)}-${version}`);
  const command = join(folder, basename(name));
  if (existsSync(command)) return { command };
  const { error, status, stderr } = spawnSync("go", ["install", `${name}@${version}`], {
    encoding: "utf8",
    env: { ...process.env, GOBIN: folder },
  });
  if (error !== undefined) return { reason: `go cannot be run: ${error.message}` };
  if (status === 0) return { command };
  return { reason: `go cannot build ${name}@${version}: ${stderr.trim().split("\n").at(-1)}` };
}

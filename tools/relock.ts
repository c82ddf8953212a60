/**
 * `npm run relock`: generates package-lock.json from the manifests. With a filled `node_modules`, `npm install` drops the
 * optional packages of other platforms from the lock file, and `npm ci` then refuses the file.
 */
import { spawnSync } from "node:child_process";
import {
  copyFileSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

const root = dirname(import.meta.dirname);
const folder = mkdtempSync(join(tmpdir(), "relock-"));
try {
  const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { workspaces: string[] };
  const manifests = [
    "package.json",
    ".npmrc",
    ...manifest.workspaces.flatMap((pattern) => globSync(`${pattern}/package.json`, { cwd: root })),
  ];
  for (const file of manifests) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    copyFileSync(join(root, file), join(folder, file));
    // npm adds a workspace's commands to the lock file only if their files exist.
    for (const command of globSync("bin/*", { cwd: dirname(join(root, file)) })) {
      mkdirSync(join(folder, dirname(file), "bin"), { recursive: true });
      copyFileSync(join(root, dirname(file), command), join(folder, dirname(file), command));
    }
  }
  if (existsSync(join(root, "package-lock.json")) && process.argv[2] !== "--fresh") {
    pinToLocked(join(root, "package-lock.json"));
  }
  const npm = spawnSync("npm", ["install", "--package-lock-only", "--ignore-scripts", "--no-audit"], {
    cwd: folder,
    stdio: ["ignore", "ignore", "inherit"],
  });
  if (npm.status !== 0) process.exit(npm.status ?? 1);
  copyFileSync(join(folder, "package-lock.json"), join(root, "package-lock.json"));
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** Starts from the present lock file, so that npm keeps the versions and only adds missing packages. */
function pinToLocked(file: string): void {
  const lock = JSON.parse(readFileSync(file, "utf8")) as { packages: Record<string, { optional?: boolean }> };
  writeFileSync(join(folder, "package-lock.json"), JSON.stringify(lock));
}

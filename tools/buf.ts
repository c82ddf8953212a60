/** buf and protoc-gen-es, installed into a folder of their own: 130 MB that only the generator needs. */
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const VERSIONS = { "@bufbuild/buf": "1.74.0", "@bufbuild/protoc-gen-es": "2.17.0" };

const folder = join(import.meta.dirname, "..", ".suites", `buf-${Object.values(VERSIONS).join("-")}`);
const modules = join(folder, "node_modules", "@bufbuild");

/** The file of the plugin for `buf generate`, to be run by Node. */
export const protocGenEs: string = join(modules, "protoc-gen-es", "bin", "protoc-gen-es");

/**
 * Installs both once.
 * @returns the reason why npm could not install them; undefined on success
 */
export function installBuf(): string | undefined {
  const complete = join(folder, "complete");
  if (existsSync(complete)) return undefined;
  mkdirSync(folder, { recursive: true });
  writeFileSync(
    join(folder, "package.json"),
    JSON.stringify({ private: true, allowScripts: { "@bufbuild/buf": false } }),
  );
  const packages = Object.entries(VERSIONS).map(([name, version]) => `${name}@${version}`);
  const { error, status, stderr } = spawnSync(
    "npm",
    ["install", "--prefix", folder, "--save-exact", "--ignore-scripts", "--no-audit", ...packages],
    { encoding: "utf8" },
  );
  if (error !== undefined) return `npm cannot be run: ${error.message}`;
  if (status !== 0) return `npm cannot install ${packages.join(" and ")}: ${stderr.trim()}`;
  writeFileSync(complete, "");
  return undefined;
}

/**
 * Runs buf with `cwd` as its module. Removes buf's cache afterwards, because it is not worth keeping and the home directory
 * may be read-only.
 * @throws {Error} with buf's own message if a protocol file is invalid
 */
export function buf(cwd: string, ...words: string[]): Buffer {
  const cache = mkdtempSync(join(tmpdir(), "buf-cache-"));
  try {
    return execFileSync(process.execPath, [join(modules, "buf", "bin", "buf"), ...words], {
      cwd,
      env: { ...process.env, BUF_CACHE_DIR: cache },
      stdio: "pipe",
    });
  } finally {
    rmSync(cache, { recursive: true, force: true });
  }
}

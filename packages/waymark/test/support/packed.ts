import { execFile } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { after } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const PACKAGE = fileURLToPath(new URL("../..", import.meta.url));
const ROOT = dirname(dirname(PACKAGE));
const NOT_PACKED = new Set(["node_modules", "dist", "test"]);

/** A temporary folder, removed when the tests end. */
export function temporaryFolder(name: string): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), `waymark-${name}-`)));
  after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  return folder;
}

/** The environment of a user: this Node first, without variables of the npm script that runs the tests. */
export function userEnvironment(): NodeJS.ProcessEnv {
  const env = Object.fromEntries(
    Object.entries(process.env).filter(
      ([name]) => !/^npm_(lifecycle|package|config_local)|^NODE_TEST/.test(name),
    ),
  );
  return { ...env, PATH: `${dirname(process.execPath)}${delimiter}${process.env.PATH}` };
}

/** Runs a command to its end. Rejects with its output if it fails. */
export async function command(folder: string, file: string, ...args: string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(file, args, { cwd: folder, env: userEnvironment() });
  return stdout;
}

/** Packs this package as for publication and installs it in a folder after `npm init -y`. */
export async function installPacked(): Promise<string> {
  // Packs a copy, because packing temporarily rewrites package.json, which other tests may be reading.
  const work = temporaryFolder("pack");
  const copy = join(work, "packages", "waymark");
  mkdirSync(dirname(copy), { recursive: true });
  cpSync(PACKAGE, copy, { recursive: true, filter: (path) => !NOT_PACKED.has(path.slice(PACKAGE.length)) });
  for (const name of ["tools", "node_modules"]) symlinkSync(join(ROOT, name), join(work, name));
  symlinkSync(join(PACKAGE, "node_modules"), join(copy, "node_modules"));
  await command(copy, "npm", "pack", "--silent", "--pack-destination", work);
  const folder = temporaryFolder("user");
  await command(folder, "npm", "init", "-y");
  const tarball = (await command(work, "sh", "-c", "ls *.tgz")).trim();
  await command(folder, "npm", "install", "--prefer-offline", "--no-audit", "--no-fund", join(work, tarball));
  return folder;
}

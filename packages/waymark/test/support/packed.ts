import { execFile } from "node:child_process";
import {
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { after } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const ROOT = fileURLToPath(new URL("../../../..", import.meta.url));
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

/** Packs packages as for publication and installs them in a folder after `npm init -y`. */
export async function installPacked(...names: readonly string[]): Promise<string> {
  // Packs copies, because packing temporarily rewrites package.json, which other tests may be reading.
  const work = temporaryFolder("pack");
  for (const name of ["tools", "node_modules"]) symlinkSync(join(ROOT, name), join(work, name));
  for (const name of names) await pack(name, work);
  const folder = temporaryFolder("user");
  await command(folder, "npm", "init", "-y");
  const tarballs = globSync(join(work, "*.tgz"));
  await command(folder, "npm", "install", "--prefer-offline", "--no-audit", "--no-fund", ...tarballs);
  return folder;
}

async function pack(name: string, work: string): Promise<void> {
  const original = join(ROOT, "packages", name);
  const copy = join(work, "packages", name);
  mkdirSync(dirname(copy), { recursive: true });
  const isPacked = (path: string) => !NOT_PACKED.has(path.slice(original.length + 1));
  cpSync(original, copy, { recursive: true, filter: isPacked });
  const modules = join(original, "node_modules");
  if (existsSync(modules)) symlinkSync(modules, join(copy, "node_modules"));
  await command(copy, "npm", "pack", "--silent", "--pack-destination", work);
}

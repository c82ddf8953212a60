import { execFile } from "node:child_process";
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after } from "node:test";
import { promisify } from "node:util";
import { type Published, packInto } from "../../../../tools/pack-all.ts";
import { userEnvironment } from "../../../../tools/user-environment.ts";

/** A temporary folder, removed when the tests end. */
export function temporaryFolder(name: string): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), `waymark-${name}-`)));
  after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  return folder;
}

/** Runs a command to its end. Rejects with its output if it fails. */
export async function command(folder: string, file: string, ...args: string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(file, args, { cwd: folder, env: userEnvironment() });
  return stdout;
}

/** Packs packages as for publication and installs them in a folder after `npm init -y`. */
export async function installPacked(...names: readonly Published[]): Promise<string> {
  const packed = await packInto(temporaryFolder("pack"), names);
  const folder = temporaryFolder("user");
  await command(folder, "npm", "init", "-y");
  const tarballs = packed.map(({ tarball }) => tarball);
  await command(folder, "npm", "install", "--prefer-offline", "--no-audit", "--no-fund", ...tarballs);
  return folder;
}

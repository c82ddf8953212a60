import { spawnSync } from "node:child_process";
import { existsSync, globSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Debian's build without a window, and a font. */
const PACKAGES = ["chromium-headless-shell", "fonts-dejavu-core"];

const folder = join(import.meta.dirname, "..", "..", ".suites", "chromium");
const root = join(folder, "root");

/** A Chromium that can be started. */
export interface InstalledChromium {
  readonly binary: string;
  /** Folders of libraries that the system does not have. */
  readonly libraries: readonly string[];
}

/**
 * Finds Chromium: the program that `CHROMIUM` names, or Debian's package, unpacked into a folder of its own together with
 * the libraries that the system lacks. Changes nothing else on the system.
 * @returns the reason if it cannot be had
 */
export function installChromium(): InstalledChromium | { readonly reason: string } {
  const { CHROMIUM } = process.env;
  if (CHROMIUM) return { binary: CHROMIUM, libraries: [] };
  const complete = join(folder, "complete");
  if (!existsSync(complete)) {
    const reason = unpack();
    if (reason !== undefined) return { reason };
    writeFileSync(complete, "");
  }
  const [binary] = globSync(join(root, "usr/lib/chromium/chromium-headless-shell"));
  if (binary === undefined) return { reason: `${PACKAGES[0]} contains no program of that name` };
  const libraries = globSync(join(root, "usr/lib/*-linux-*{,/pulseaudio}"));
  return { binary, libraries };
}

function unpack(): string | undefined {
  rmSync(folder, { recursive: true, force: true });
  const packages = join(folder, "packages");
  mkdirSync(packages, { recursive: true });
  let listed = apt(["install", "--simulate", "--no-install-recommends", ...PACKAGES]);
  if (listed.reason !== undefined) {
    // A new machine has no lists of packages.
    const { reason } = apt(["update", "--quiet"]);
    if (reason !== undefined) return reason;
    listed = apt(["install", "--simulate", "--no-install-recommends", ...PACKAGES]);
    if (listed.reason !== undefined) return listed.reason;
  }
  const names = new Set([...listed.output.matchAll(/^Inst (\S+)/gm)].map(([, name]) => name!));
  const { reason } = apt(["download", PACKAGES[0]!, ...names], packages);
  if (reason !== undefined) return reason;
  for (const file of globSync(join(packages, "*.deb"))) {
    const { status, stderr } = spawnSync("dpkg-deb", ["--extract", file, root], { encoding: "utf8" });
    if (status !== 0) return `dpkg-deb cannot unpack ${file}: ${stderr.trim()}`;
  }
  rmSync(packages, { recursive: true });
  return undefined;
}

function apt(words: string[], cwd = folder): { readonly output: string; readonly reason?: string } {
  const { error, status, stdout, stderr } = spawnSync("apt-get", words, { cwd, encoding: "utf8" });
  if (error !== undefined) return { output: "", reason: `apt-get cannot be run: ${error.message}` };
  if (status === 0) return { output: stdout };
  const last = stderr.trim().split("\n").at(-1) ?? "";
  return { output: stdout, reason: `apt-get ${words[0]} fails: ${last}` };
}

/**
 * Folders whose content depends on a hash of its sources, for example tarballs. The first process that needs one makes
 * it. Others, in parallel or later, use it.
 */
import { createHash } from "node:crypto";
import { mkdir, mkdtemp, readdir, readFile, rename, rm, stat, utimes } from "node:fs/promises";
import { join } from "node:path";

/** The names of folders under construction begin so. */
const UNFINISHED = "unfinished-";
/** An older unfinished folder belongs to a process that was killed. */
const ABANDONED_MS = 60 * 60_000;

export interface KeptFolders {
  /** The folder that contains them. */
  readonly root: string;
  /** The number of folders that stay: the last used ones. */
  readonly most: number;
}

/**
 * @param make fills in an empty folder
 * @returns the path of the folder with this name
 */
export async function keptFolder(
  { root, most }: KeptFolders,
  name: string,
  make: (folder: string) => Promise<void>,
): Promise<string> {
  const path = join(root, name);
  if (await wasUsed(path)) return path;
  await mkdir(root, { recursive: true });
  const unfinished = await mkdtemp(join(root, UNFINISHED));
  try {
    await make(unfinished);
    await rename(unfinished, path);
  } catch (error) {
    await rm(unfinished, { recursive: true, force: true });
    // Another process was faster.
    if (!(await wasUsed(path))) throw error;
  }
  await removeOld({ root, most });
  return path;
}

/** Marks a folder as used now. @returns false if it does not exist */
async function wasUsed(path: string): Promise<boolean> {
  const now = new Date();
  return utimes(path, now, now).then(
    () => true,
    () => false,
  );
}

async function removeOld({ root, most }: KeptFolders): Promise<void> {
  const folders = await Promise.all(
    (await readdir(root)).map(async (name) => {
      const path = join(root, name);
      // Another process may have removed it.
      return { name, path, used: (await stat(path).catch(() => undefined))?.mtimeMs ?? 0 };
    }),
  );
  const isUnfinished = ({ name }: { name: string }) => name.startsWith(UNFINISHED);
  const abandoned = folders.filter((one) => isUnfinished(one) && one.used < Date.now() - ABANDONED_MS);
  const finished = folders.filter((one) => !isUnfinished(one)).sort((a, b) => b.used - a.used);
  for (const { path } of [...abandoned, ...finished.slice(most)])
    await rm(path, { recursive: true, force: true });
}

/** @returns a hash of the names and contents of files, and of `parts` */
export async function hashOf(
  root: string,
  files: readonly string[],
  parts: readonly string[] = [],
): Promise<string> {
  const hash = createHash("sha256").update(JSON.stringify(parts));
  for (const file of [...files].sort()) {
    const content = await readFile(join(root, file));
    hash.update(`\n${JSON.stringify([file, content.length])}\n`).update(content);
  }
  return hash.digest("hex").slice(0, 16);
}

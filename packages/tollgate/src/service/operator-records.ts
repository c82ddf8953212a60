/**
 * The records of operators for the embedded store. With `EMBEDDED_STORE_SNAPSHOT` they are in a file beside the snapshot,
 * which is written at each change, so that they also survive an end without a graceful stop.
 */
import { open, readFile, rename, rm } from "node:fs/promises";
import { MemoryRecords, type SavedRecords } from "../counters/memory-records.ts";
import { StoreError } from "../counters/store.ts";
import type { Logger } from "../observe/log.ts";
import { readRecords } from "../overrides/record.ts";

/** @param snapshot the path of the counters' snapshot; undefined: the records end with the process */
export async function openOperatorRecords(snapshot: string | undefined, log: Logger): Promise<MemoryRecords> {
  if (snapshot === undefined) return new MemoryRecords();
  const path = `${snapshot}.operators`;
  return new MemoryRecords(await load(path, log), async (records) => {
    try {
      await save(path, records);
    } catch (cause) {
      const message = `cannot write the file of the overrides: ${(cause as Error).message}`;
      throw new StoreError("STORE_UNAVAILABLE", message, { cause });
    }
  });
}

async function load(path: string, log: Logger): Promise<SavedRecords | undefined> {
  try {
    const saved = JSON.parse(await readFile(path, "utf8")) as Partial<SavedRecords> | null;
    const { version, overrides, audit } = saved ?? {};
    if (Number.isSafeInteger(version) && typeof overrides === "string" && Array.isArray(audit)) {
      readRecords(overrides);
      return { version: version!, overrides, audit: audit.filter((line) => typeof line === "string") };
    }
    log.warn(`the overrides saved in ${path} are ignored: the file has another format`);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT")
      log.warn(`the overrides saved in ${path} are ignored: ${(error as Error).message}`);
  }
  return undefined;
}

/** Writes a new file, readable by its owner only, and renames it. A link at its place is not followed. */
async function save(path: string, records: SavedRecords): Promise<void> {
  const unfinished = `${path}.unfinished`;
  await rm(unfinished, { force: true });
  const file = await open(unfinished, "wx", 0o600);
  try {
    await file.writeFile(JSON.stringify(records));
    await file.datasync();
  } finally {
    await file.close();
  }
  await rename(unfinished, path);
}

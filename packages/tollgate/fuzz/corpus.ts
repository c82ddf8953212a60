/** Sessions in files. Each run starts with the sessions that broke the service once. */
import { globSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Session } from "./session.ts";

const folder = join(import.meta.dirname, "corpus");

interface Kept {
  readonly name: string;
  readonly sessions: readonly Session[];
}

export function readCorpus(): Kept[] {
  return globSync(`${folder}/*.json`)
    .sort()
    .map((file) => ({
      name: file.slice(folder.length + 1),
      sessions: JSON.parse(readFileSync(file, "utf8"), revive) as Session[],
    }));
}

/** @returns the file's path */
export function keep(name: string, sessions: readonly Session[]): string {
  mkdirSync(folder, { recursive: true });
  const file = join(folder, `${name}.json`);
  writeFileSync(file, `${JSON.stringify(sessions, replace, 2)}\n`);
  return file;
}

/** Writes patterns as their source and bytes in base64. */
function replace(this: unknown, key: string, value: unknown): unknown {
  const raw = (this as Record<string, unknown>)[key];
  if (raw instanceof Uint8Array) return { base64: Buffer.from(raw).toString("base64") };
  if (raw instanceof RegExp) return { pattern: raw.source };
  return value;
}

function revive(_key: string, value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if ("base64" in value) return Buffer.from(String(value.base64), "base64");
  if ("pattern" in value) return new RegExp(String(value.pattern));
  return value;
}

import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { cpuMicroseconds, loadCores } from "./process.ts";

/** How a header block carries the metadata that changes with every call. */
export type MetadataForm =
  /** As octets, not to be kept. */
  | "plain"
  /** Huffman coded, as clients do where that is shorter; not to be kept. */
  | "huffman"
  /** Huffman coded, and kept in the dynamic table: each call changes the table. */
  | "indexed";

/** Load that h2load cannot make: calls that differ from one another. */
export interface RawLoad {
  readonly connections: number;
  readonly streams: number;
  readonly calls: number;
  /** Where it holds {@link KEY_PLACE}, each call has a number of its own there. */
  readonly message: Uint8Array;
  /** How many different numbers; in turn. Default 1. */
  readonly keys?: number;
  /** One header field of so many random characters, another with each call. */
  readonly metadata?: { readonly form: MetadataForm; readonly characters: number };
}

/** What is replaced by a number of as many digits. */
export const KEY_PLACE = "#######";

/** What became of the calls. */
export interface RawCounts {
  readonly ok: number;
  readonly overLimit: number;
  /** Answered without a message: a status other than OK. */
  readonly failed: number;
  readonly perSecond: number;
}

export interface RawMeasured extends RawCounts {
  /** Of the server, a call. */
  readonly cpuMicroseconds: number;
}

/** Puts load on a gRPC method over cleartext HTTP/2, from a process of its own; every call must be answered. */
export function rawLoad(pid: number, url: string, load: RawLoad): RawMeasured {
  const input = JSON.stringify({ ...load, url, message: Buffer.from(load.message).toString("base64") });
  const before = cpuMicroseconds(pid);
  const output = execFileSync(
    "taskset",
    ["-c", loadCores, process.execPath, join(import.meta.dirname, "raw-load-client.ts")],
    { input, encoding: "utf8" },
  );
  const used = cpuMicroseconds(pid) - before;
  const counts = JSON.parse(output) as RawCounts;
  const answered = counts.ok + counts.overLimit;
  if (answered !== load.calls) throw new Error(`${answered} of ${load.calls} calls were answered: ${output}`);
  return { ...counts, cpuMicroseconds: used / load.calls };
}

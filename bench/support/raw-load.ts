import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { cpuMicroseconds, loadCores } from "./process.ts";

/** The HPACK representation of the metadata that changes with every call. */
export type MetadataForm =
  /** Octets, without indexing. */
  | "plain"
  /** Huffman coded, without indexing. Clients use this form if it is shorter. */
  | "huffman"
  /** Huffman coded, with incremental indexing: each call changes the dynamic table. */
  | "indexed";

/** A load of calls with different contents, which h2load cannot send. */
export interface RawLoad {
  readonly connections: number;
  readonly streams: number;
  readonly calls: number;
  /** Each call replaces {@link KEY_PLACE} in the message by a number. */
  readonly message: Uint8Array;
  /** Number of values that the calls use in turn. Default 1. */
  readonly keys?: number;
  /** A header field with random characters that differ in each call. */
  readonly metadata?: { readonly form: MetadataForm; readonly characters: number };
}

/** The placeholder for a number with as many digits. */
export const KEY_PLACE = "#######";

/** The results of the calls. */
export interface RawCounts {
  readonly ok: number;
  readonly overLimit: number;
  /** Responses without a message: the status is not OK. */
  readonly failed: number;
  readonly perSecond: number;
}

export interface RawMeasured extends RawCounts {
  /** CPU of the server per call. */
  readonly cpuMicroseconds: number;
}

/**
 * Loads a gRPC method over cleartext HTTP/2 from a separate process.
 * @throws {Error} if a call fails
 */
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
  if (answered !== load.calls) throw new Error(`${answered} of ${load.calls} calls succeeded: ${output}`);
  return { ...counts, cpuMicroseconds: used / load.calls };
}

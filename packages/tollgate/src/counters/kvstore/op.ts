import type { StoreError } from "../store.ts";
import type { KnownExpiries } from "./expiries.ts";
import type { KnownScripts } from "./known-scripts.ts";
import type { Part } from "./part.ts";
import type { ErrorReply, Reply } from "./resp/reply.ts";
import type { CommandWriter } from "./resp/writer.ts";

/** A key that needs an EXPIRE without a count. */
export interface FreshKey {
  readonly stem: string;
  readonly windowStart: number;
  readonly windowSize: number;
}

/** Dependencies of a batch. */
export interface BatchContext {
  readonly expiries: KnownExpiries;
  /** A key's time to live in seconds: its window and some jitter. */
  lifetime(windowSize: number): number;
  /** Microseconds since the epoch for script calls; 0 for the server's clock. */
  now(): number;
  /** Handles a part with an error reply: sends it again, or fails its ticket. */
  refused(error: ErrorReply, part: Part): void;
  /** Handles a key that is fresh although this process had set its expiry, or whose EXPIRE may be lost. */
  fresh(key: FreshKey): void;
}

/** The batch of an op. */
export interface OpBatch {
  readonly context: BatchContext;
  readonly writer: CommandWriter;
  /** The scripts that its connection knows. */
  readonly scripts: KnownScripts;
  /** Adds an op for a part. */
  plan(op: Op): void;
  /** Writes an op behind the one that is being written. */
  send(op: Op): void;
}

/** One command of a batch, with its reply. */
export interface Op {
  reply: Reply | undefined;
  write(batch: OpBatch): void;
  /** Reads the reply, if there is one, before the batch gives the parts their results. */
  end(batch: OpBatch, error: StoreError | undefined): void;
}

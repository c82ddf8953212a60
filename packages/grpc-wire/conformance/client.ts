/** The common parts of all clients: cases, addresses and results. */
import assert from "node:assert/strict";
import { scaled } from "../../../tools/time-scale.ts";

export const transports = ["cleartext", "TLS with ALPN", "unix socket"] as const;
export type Transport = (typeof transports)[number];

export const cases = [
  "unary",
  "concurrent",
  "deadline",
  "cancel",
  "4 MB both ways",
  "5 MB is RESOURCE_EXHAUSTED",
  "gzip both ways",
  "server streaming",
  "client streaming",
  "bidirectional streaming",
  "metadata, -bin too",
  "status with Unicode",
  "health Check",
  "health Watch",
  "reflection",
] as const;
export type Case = (typeof cases)[number];

/** The address of a server under test. */
export interface Target {
  readonly transport: Transport;
  /** The TCP port on 127.0.0.1; 0 for a unix socket. */
  readonly port: number;
  /** The path of a unix socket; empty for TCP. */
  readonly path: string;
  /** The PEM file of the authority that signed the server's certificate for `localhost` and 127.0.0.1. */
  readonly caFile: string;
  readonly control: Control;
}

/** A second connection to the server, which reports the events of the calls under test. */
export interface Control {
  /** A name that nobody used before. */
  unique(): string;
  /** Resolves once a call of Wait with that text is there. */
  arrived(text: string): Promise<void>;
  /** Resolves once the server knows that the caller of Wait with that text has left. */
  gone(text: string): Promise<void>;
  setHealth(service: string, status: number): Promise<void>;
  /** The same target behind a relay that counts the bytes of both directions. */
  counted<T>(target: Target, run: (target: Target, bytes: Traffic) => Promise<T>): Promise<T>;
  /** A cleartext server that compresses its responses with gzip for clients that accept it. */
  zipping(): Target;
}

/** Bytes on the wire so far: to the server, and from it. */
export interface Traffic {
  up: number;
  down: number;
}

/** A trial throws this when the client does not support the case over this transport. `message` is the reason. */
export class Unable extends Error {}

/** Rejects where the case failed; resolves to a remark where less than the whole case could be tried. */
export type Trial = (target: Target) => Promise<string | undefined>;

/** A client. A text in place of a trial says why the client cannot do it. */
export interface Client {
  readonly name: string;
  version(): Promise<string>;
  readonly unable: Partial<Record<Transport, string>>;
  readonly trials: Record<Case, Trial | string>;
}

export const samples = {
  greeting: "grüße, 你好, 🦊",
  failure: "kein Käse: 没有奶酪, 🧀 is 100 % gone",
  word: "to and fro, ~100 %",
  raw: Buffer.from([0, 1, 0x7f, 0x80, 0xfe, 0xff, 10]),
  /** Within the server's and most clients' limit of 4 MiB. */
  large: Buffer.alloc(4_000_000, "a large message, "),
  tooLarge: Buffer.alloc(5_000_000, "a message too large, "),
  /** Shrinks to a fraction. */
  zippable: Buffer.alloc(400_000, "gzip me "),
  /** A stream that fills a window many times over. */
  streamed: { count: 200, payload: Buffer.alloc(16_000, "streamed ") },
  /** The notes of a request stream, and the server's expected sum. */
  summed: { payload: Buffer.alloc(16_000, "summed "), count: 100, text: "1600000" },
  deadlineMs: scaled(300),
} as const;

/** Whether both directions carried less than half of the uncompressed bytes. */
export function assertZipped({ up, down }: Traffic): void {
  const half = samples.zippable.length / 2;
  assert.ok(up < half, `the request took ${up} bytes: it was not compressed`);
  assert.ok(down < half, `the answer took ${down} bytes: it was not compressed`);
}

/** `host:port` of TCP. */
export function authorityOf({ port }: Target): string {
  return `127.0.0.1:${port}`;
}

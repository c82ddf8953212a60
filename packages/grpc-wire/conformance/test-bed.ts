/** The environment of the conformance cases: certificates, a server process, a control connection, relays. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import grpc from "@grpc/grpc-js";
import { scaled } from "../../../tools/time-scale.ts";
import { Authority } from "../test/support/certificates.ts";
import type { Control, Target, Traffic, Transport } from "./client.ts";
import { encodeNote } from "./schema.ts";
import type { Addresses } from "./server.ts";

/** Longest wait of a case for an event at the server. */
const PATIENCE_MS = scaled(10_000);

export class TestBed implements AsyncDisposable {
  readonly #folder = mkdtempSync(join(tmpdir(), "grpc-wire-conformance-"));
  readonly #caFile = join(this.#folder, "ca.pem");
  #server: ChildProcess | undefined;
  #addresses!: Addresses;
  #control: grpc.Client | undefined;
  #names = 0;
  /** The server's standard error, for example an uncaught exception. */
  #complaints = "";

  static async start(): Promise<TestBed> {
    const bed = new TestBed();
    try {
      await bed.#start();
      return bed;
    } catch (error) {
      await bed[Symbol.asyncDispose]();
      throw error;
    }
  }

  target(transport: Transport): Target {
    const { cleartextPort, tlsPort, unixPath } = this.#addresses;
    if (transport === "unix socket") return this.#target(transport, 0, unixPath);
    return this.#target(transport, transport === "cleartext" ? cleartextPort : tlsPort, "");
  }

  /** The port of a server that has the HTTP/2 layer and nothing above it. */
  get http2Port(): number {
    return this.#addresses.http2Port;
  }

  /** The faults of the server so far. */
  complaints(): string {
    const { exitCode, signalCode } = this.#server!;
    const end =
      exitCode === null && signalCode === null ? "" : `the server ended (${signalCode ?? exitCode})\n`;
    return end + this.#complaints;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#control?.close();
    const server = this.#server;
    if (server !== undefined && server.exitCode === null && server.signalCode === null) {
      server.stdin!.end();
      await once(server, "exit");
    }
    rmSync(this.#folder, { recursive: true, force: true });
  }

  async #start(): Promise<void> {
    const authority = new Authority("conformance");
    writeFileSync(this.#caFile, authority.ca);
    const { cert, key } = authority.issue("localhost");
    authority.remove();
    writeFileSync(join(this.#folder, "server.pem"), cert);
    writeFileSync(join(this.#folder, "server.key"), key);
    const server = spawn(process.execPath, [join(import.meta.dirname, "server.ts"), this.#folder], {
      stdio: ["pipe", "pipe", "pipe"],
    });
    this.#server = server;
    server.stderr.setEncoding("utf8").on("data", (text: string) => {
      this.#complaints = (this.#complaints + text).slice(0, 10_000);
    });
    const lines = createInterface({ input: server.stdout });
    const line = await Promise.race([
      once(lines, "line").then(([text]) => String(text)),
      once(server, "exit").then(() => undefined),
    ]);
    if (line === undefined) throw new Error(`the server did not start: ${this.#complaints}`);
    this.#addresses = JSON.parse(line) as Addresses;
    const address = `127.0.0.1:${this.#addresses.cleartextPort}`;
    this.#control = new grpc.Client(address, grpc.credentials.createInsecure());
  }

  #target(transport: Transport, port: number, path: string): Target {
    return { transport, port, path, caFile: this.#caFile, control: this.#controls };
  }

  readonly #controls: Control = {
    unique: () => `probe-${process.pid}-${++this.#names}`,
    arrived: (text) => this.#ask("Arrived", encodeNote({ text })),
    gone: (text) => this.#ask("Gone", encodeNote({ text })),
    setHealth: (text, count) => this.#ask("SetHealth", encodeNote({ text, count })),
    counted: (target, run) => this.#counted(target, run),
    zipping: () => this.#target("cleartext", this.#addresses.zippingPort, ""),
  };

  #ask(method: string, message: Buffer): Promise<void> {
    const bytes = (value: Buffer) => value;
    return new Promise((resolve, reject) => {
      const options = { deadline: Date.now() + PATIENCE_MS };
      const path = `/conformance.Probe/${method}`;
      this.#control!.makeUnaryRequest(path, bytes, bytes, message, options, (error: Error | null) => {
        if (error === null) resolve();
        else reject(new Error(`${method}: ${error.message}`));
      });
    });
  }

  async #counted<T>(target: Target, run: (target: Target, bytes: Traffic) => Promise<T>): Promise<T> {
    const bytes: Traffic = { up: 0, down: 0 };
    const sockets = new Set<Socket>();
    const relay = createServer((near) => {
      const far = target.path === "" ? connect(target.port, "127.0.0.1") : connect(target.path);
      near.on("data", ({ length }) => (bytes.up += length));
      far.on("data", ({ length }) => (bytes.down += length));
      near.pipe(far).pipe(near);
      for (const [socket, other] of [
        [near, far],
        [far, near],
      ] as const) {
        sockets.add(socket);
        socket.on("error", () => {}).once("close", () => other.destroy());
      }
    });
    const path = target.path === "" ? "" : join(this.#folder, `relay-${++this.#names}.sock`);
    relay.listen(path === "" ? { port: 0, host: "127.0.0.1" } : { path });
    await once(relay, "listening");
    const bound = relay.address();
    const port = bound !== null && typeof bound === "object" ? bound.port : 0;
    try {
      return await run({ ...target, port, path }, bytes);
    } finally {
      relay.close();
      for (const socket of sockets) socket.destroy();
    }
  }
}

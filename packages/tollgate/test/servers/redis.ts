import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { scaled } from "../../../../tools/time-scale.ts";
import type { Connection } from "../../src/counters/kvstore/connection.ts";
import { openConnection } from "../../src/counters/kvstore/open-connection.ts";
import { ErrorReply, type Reply } from "../../src/counters/kvstore/resp/reply.ts";
import type { ClientTlsOptions } from "../../src/counters/transport/tls.ts";
import { ServerProcess, temporaryFolder, withFreePorts } from "./process.ts";

export interface RedisSettings {
  /** Lines of redis.conf. */
  readonly config?: readonly string[];
  /** Uses TLS on the port. Pass the files in `config`. */
  readonly tls?: ClientTlsOptions;
  /** Arguments of AUTH for a test's own commands. */
  readonly auth?: readonly string[];
  /** Runs redis-sentinel. */
  readonly sentinel?: boolean;
  readonly cluster?: boolean;
  /** A fixed port instead of a free one. */
  readonly port?: number;
}

/** A redis-server (or sentinel) on its own port and socket, without persistence. */
export class RedisServer {
  readonly port: number;
  readonly #settings: RedisSettings;
  /** The port of the cluster bus. */
  readonly busPort: number;
  #process: ServerProcess | undefined;
  #client: Connection | undefined;

  private constructor(port: number, busPort: number, settings: RedisSettings) {
    this.port = port;
    this.busPort = busPort;
    this.#settings = settings;
  }

  static start(settings: RedisSettings = {}): Promise<RedisServer> {
    return withFreePorts(2, async ([port, busPort]) => {
      const server = new RedisServer(settings.port ?? port!, busPort!, settings);
      await server.restart();
      return server;
    });
  }

  get url(): string {
    return `127.0.0.1:${this.port}`;
  }

  get socketPath(): string {
    return join(this.#process!.folder, "redis.sock");
  }

  get pid(): number {
    return this.#process!.pid;
  }

  /** Restarts the server, empty, on the same port. */
  async restart(): Promise<void> {
    await this.stop();
    const folder = temporaryFolder("redis");
    const { config = [], tls, sentinel, cluster } = this.#settings;
    const lines = [
      tls === undefined ? `port ${this.port}` : `port 0\ntls-port ${this.port}`,
      "bind 127.0.0.1",
      `dir ${folder}`,
      ...(sentinel ? [] : [`unixsocket ${join(folder, "redis.sock")}`, 'save ""', "appendonly no"]),
      ...(cluster ? ["cluster-enabled yes", `cluster-port ${this.busPort}`] : []),
      ...config,
    ];
    const file = join(folder, "redis.conf");
    writeFileSync(file, `${lines.join("\n")}\n`);
    const command = sentinel ? "redis-sentinel" : "redis-server";
    this.#process = await ServerProcess.start(command, [file], folder);
    await this.#process.whenReady(async () => (await this.command("PING")) === "PONG");
  }

  /** Sends a command, independently of the store under test. @throws {Error} for an error reply */
  async command(...words: (string | number)[]): Promise<Reply> {
    if (this.#client === undefined || this.#client.closed) {
      const { auth, tls } = this.#settings;
      this.#client = await openConnection({
        endpoint: { host: "127.0.0.1", port: this.port },
        tls,
        greeting: auth === undefined ? [] : [["AUTH", ...auth]],
        timeout: scaled(5000),
      });
    }
    const [reply] = await this.#client.commands([words.map(String)]);
    if (reply instanceof ErrorReply) throw new Error(reply.message);
    return reply!;
  }

  /** Reads a number from INFO. */
  async info(field: string): Promise<number> {
    const text = String(await this.command("INFO", "everything"));
    return Number(new RegExp(`^${field}:(.*)$`, "m").exec(text)![1]);
  }

  /** Number of calls of a command since the last CONFIG RESETSTAT. */
  async calls(name: string): Promise<number> {
    const text = String(await this.command("INFO", "commandstats"));
    return Number(new RegExp(`^cmdstat_${name}:calls=(\\d+)`, "m").exec(text)?.[1] ?? 0);
  }

  pause(): Promise<void> {
    return this.#process!.pause();
  }

  resume(): void {
    this.#process!.signal("SIGCONT");
  }

  get running(): boolean {
    return this.#process !== undefined;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  async stop(): Promise<void> {
    this.#client?.destroy();
    this.#client = undefined;
    await this.#process?.stop();
    this.#process = undefined;
  }
}

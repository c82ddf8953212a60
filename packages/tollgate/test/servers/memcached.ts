import { connect, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { type ClientTlsOptions, tlsConnectionOptions } from "../../src/counters/transport/tls.ts";
import { ServerProcess, temporaryFolder, withFreePorts } from "./process.ts";

export interface MemcachedSettings {
  /** Arguments beyond address and port. */
  readonly args?: readonly string[];
  /** Uses TLS on the port. Pass the server's files in `args`. */
  readonly tls?: ClientTlsOptions;
  /** A fixed port instead of a free one. */
  readonly port?: number;
}

/** A memcached on its own port. */
export class MemcachedServer {
  readonly port: number;
  readonly #settings: MemcachedSettings;
  #process: ServerProcess | undefined;

  private constructor(port: number, settings: MemcachedSettings) {
    this.port = port;
    this.#settings = settings;
  }

  static start(settings: MemcachedSettings = {}): Promise<MemcachedServer> {
    return withFreePorts(1, async ([port]) => {
      const server = new MemcachedServer(settings.port ?? port!, settings);
      await server.restart();
      return server;
    });
  }

  get pid(): number {
    return this.#process!.pid;
  }

  get folder(): string {
    return this.#process!.folder;
  }

  get url(): string {
    return `127.0.0.1:${this.port}`;
  }

  /** Restarts the server, empty, on the same port. */
  async restart(): Promise<void> {
    await this.stop();
    const user = process.getuid?.() === 0 ? ["-u", "root"] : [];
    const args = ["-l", "127.0.0.1", "-p", String(this.port), "-U", "0", "-m", "16", ...user];
    this.#process = await ServerProcess.start(
      "memcached",
      [...args, ...(this.#settings.args ?? [])],
      temporaryFolder("memcached"),
    );
    await this.#process.whenReady(async () =>
      (await this.command("version\r\n", /\r\n$/)).startsWith("VERSION"),
    );
  }

  /** Sends text and returns the reply until `end` matches. */
  command(text: string, end: RegExp): Promise<string> {
    const { tls } = this.#settings;
    const to = { host: "127.0.0.1", port: this.port };
    return new Promise((resolve, reject) => {
      const socket: Socket =
        tls === undefined ? connect(to) : connectTls({ ...to, ...tlsConnectionOptions(tls) });
      let answer = "";
      socket.on("error", reject);
      socket.on("close", () => reject(new Error("memcached closed the connection")));
      socket.on("data", (chunk) => {
        answer += chunk.toString();
        if (!end.test(answer)) return;
        socket.destroy();
        resolve(answer);
      });
      socket.write(text);
    });
  }

  async get(key: string): Promise<string | undefined> {
    const answer = await this.command(`get ${key}\r\n`, /END\r\n$/);
    return /^VALUE .*\r\n(.*)\r\n/.exec(answer)?.[1];
  }

  /** All stored keys. */
  async keys(): Promise<string[]> {
    const dump = await this.command("lru_crawler metadump all\r\n", /END\r\n$/);
    return [...dump.matchAll(/^key=(\S+)/gm)].map(([, key]) => decodeURIComponent(key!));
  }

  /** Time to live of a key in seconds; undefined for a missing key. */
  async timeToLive(key: string): Promise<number | undefined> {
    const answer = await this.command(`mg ${key} t\r\n`, /\r\n$/);
    const left = /^HD t(-?\d+)/.exec(answer)?.[1];
    return left === undefined ? undefined : Number(left);
  }

  async stat(name: string): Promise<number> {
    const answer = await this.command("stats\r\n", /END\r\n$/);
    return Number(new RegExp(`STAT ${name} (\\S+)`).exec(answer)![1]);
  }

  pause(): Promise<void> {
    return this.#process!.pause();
  }

  resume(): void {
    this.#process!.signal("SIGCONT");
  }

  async stop(): Promise<void> {
    await this.#process?.stop();
    this.#process = undefined;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }
}

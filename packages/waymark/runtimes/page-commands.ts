import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { delimiter, dirname, join } from "node:path";
import { after } from "node:test";
import { setTimeout } from "node:timers/promises";
import { promisify } from "node:util";
import { userEnvironment } from "../../../tools/user-environment.ts";
import { freePort } from "../test/support/free-port.ts";
import { type Block, commandsOf, prints } from "../test/support/pages.ts";

const { BUN = "", DENO = "", WORKERD = "" } = process.env;

/** A server that a command of a page has started. */
export interface Started {
  readonly port: number;
  stop(): Promise<void>;
}

/** Types the commands of a page in a folder, on the runtime that each names. */
export class PageCommands {
  readonly #folder: string;
  readonly #env: NodeJS.ProcessEnv;

  constructor(folder: string) {
    this.#folder = folder;
    const paths = [join(folder, "node_modules", ".bin"), dirname(BUN), dirname(DENO), dirname(WORKERD)];
    const environment = userEnvironment();
    this.#env = { ...environment, NO_COLOR: "1", PATH: [...paths, environment.PATH].join(delimiter) };
  }

  /** Writes the file of a block. */
  write({ info, text }: Block): void {
    const path = join(this.#folder, info);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }

  /**
   * Runs the commands of a block. The page says port 8080; a server gets a free port.
   * @param settings more variables of the environment
   * @returns the server that the block starts
   */
  async run(block: Block, settings: Readonly<Record<string, string>> = {}): Promise<Started | undefined> {
    let server: Started | undefined;
    for (const { text, output } of commandsOf(block)) {
      if (text.startsWith("npm install")) continue;
      if (/\bPORT=8080 |^workerd /.test(text)) {
        server = await this.#serve(text, settings);
        continue;
      }
      const here = text
        .replaceAll("localhost:8080", `127.0.0.1:${server?.port}`)
        .replace(/^curl /, "curl -sS ")
        .replace(/^npx /, "");
      const shell = ["-c", `${here} 2>&1`];
      const printed = await promisify(execFile)("sh", shell, { cwd: this.#folder, env: this.#env }).then(
        ({ stdout }) => stdout,
        ({ stdout }: { stdout: string }) => stdout,
      );
      assert.ok(prints(printed, output), `\n$ ${text}\n${printed}\ninstead of\n${output.join("\n")}`);
    }
    return server;
  }

  /** Starts a server. Resolves once it accepts connections. */
  async #serve(text: string, settings: Readonly<Record<string, string>>): Promise<Started> {
    const port = await freePort();
    const config = join(this.#folder, "worker.capnp");
    if (text.startsWith("workerd"))
      writeFileSync(config, readFileSync(config, "utf8").replace(/127\.0\.0\.1:\d+/, `127.0.0.1:${port}`));
    const command = `exec env ${text.replace("PORT=8080", `PORT=${port}`)}`;
    const child = spawn("sh", ["-c", command], {
      cwd: this.#folder,
      env: { ...this.#env, ...settings },
      stdio: ["ignore", "ignore", "inherit"],
    });
    const closed = once(child, "close");
    after(() => child.kill("SIGKILL"));
    while (!(await accepts(port))) {
      assert.equal(child.exitCode, null, `${text} has ended`);
      await setTimeout(50);
    }
    return {
      port,
      async stop() {
        child.kill("SIGKILL");
        await closed;
      },
    };
  }
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    socket.once("connect", () => resolve(true)).once("error", () => resolve(false));
    socket.once("connect", () => socket.destroy());
  });
}

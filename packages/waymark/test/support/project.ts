import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after } from "node:test";
import { fileURLToPath } from "node:url";

const PACKAGE = fileURLToPath(new URL("../..", import.meta.url));
const LAUNCHER = join(PACKAGE, "bin", "waymark.mjs");

export interface Finished {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Serving {
  readonly url: string;
  readonly child: ChildProcess;
  stdout(): string;
  stderr(): string;
  /** Resolves once the output matches. */
  printed(pattern: RegExp): Promise<void>;
  stop(signal?: NodeJS.Signals): Promise<number | null>;
}

/** A user's folder with this package installed as a link. Removed when the tests end. */
export class Project {
  readonly folder: string;
  readonly #launcher: string;

  /** @param folder an existing folder, which is used unchanged and kept */
  constructor(files: Readonly<Record<string, string>>, launcher = LAUNCHER, folder?: string) {
    this.folder = folder ?? realpathSync(mkdtempSync(join(tmpdir(), "waymark-project-")));
    this.#launcher = launcher;
    if (folder === undefined) this.#create(files);
  }

  #create(files: Readonly<Record<string, string>>): void {
    const scope = join(this.folder, "node_modules", "@tollway");
    mkdirSync(scope, { recursive: true });
    symlinkSync(PACKAGE, join(scope, "waymark"));
    // The output of `npm init -y`: modules in this folder are CommonJS by default.
    this.write("package.json", '{ "name": "x", "type": "commonjs" }');
    for (const [name, text] of Object.entries(files)) this.write(name, text);
    after(() => rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 }));
  }

  write(name: string, text: string): void {
    const path = join(this.folder, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }

  /** Runs the command to its end. */
  async run(args: readonly string[], environment: Readonly<Record<string, string>> = {}): Promise<Finished> {
    const { child, stdout, stderr } = this.#spawn(args, environment);
    const [status] = (await once(child, "close")) as [number | null];
    return { status, stdout: stdout(), stderr: stderr() };
  }

  /** Runs the command until it prints its URL. */
  async start(args: readonly string[], environment: Readonly<Record<string, string>> = {}): Promise<Serving> {
    const { child, stdout, stderr } = this.#spawn(args, environment);
    after(() => child.kill("SIGKILL"));
    const printed = (pattern: RegExp) =>
      new Promise<void>((resolve, reject) => {
        const look = () => {
          if (pattern.test(stdout() + stderr())) finish(resolve);
        };
        const ended = () =>
          finish(() => reject(new Error(`ended without ${pattern}:\n${stdout()}${stderr()}`)));
        const finish = (settle: () => void) => {
          child.stdout.off("data", look);
          child.stderr.off("data", look);
          child.off("close", ended);
          settle();
        };
        child.stdout.on("data", look);
        child.stderr.on("data", look);
        child.on("close", ended);
        look();
      });
    await printed(/Waymark serves http:\S+.*\n/);
    const url = /http:\S+/.exec(stdout())![0];
    const stop = async (signal: NodeJS.Signals = "SIGTERM") => {
      if (child.exitCode !== null) return child.exitCode;
      const closed = once(child, "close") as Promise<[number | null]>;
      child.kill(signal);
      return (await closed)[0];
    };
    return { url, child, stdout, stderr, printed, stop };
  }

  #spawn(args: readonly string[], environment: Readonly<Record<string, string>>) {
    const env = { ...process.env, ...environment };
    delete env.NODE_TEST_CONTEXT;
    const child = spawn(process.execPath, [this.#launcher, ...args], {
      cwd: this.folder,
      env,
      stdio: ["ignore", "pipe", "pipe"],
    });
    let out = "";
    let err = "";
    child.stdout.on("data", (piece) => {
      out += piece;
    });
    child.stderr.on("data", (piece) => {
      err += piece;
    });
    return { child, stdout: () => out, stderr: () => err };
  }
}

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { assemble } from "./assemble.ts";

/** Mounts the folder read-only with its own `/proc` and volumes, drops root, and becomes process 1 of a namespace. */
const CONTAIN = `set -e
root=$1; shift
mount --make-rprivate /
mount --bind "$root" "$root"
mount -o remount,bind,ro "$root"
mount -t proc proc "$root/proc"
while [ "$1" != -- ]; do
  mount --bind "$1" "$root$2"
  mount -o remount,bind,ro "$root$2"
  shift 2
done
shift
exec chroot --userspec=65532:65532 "$root" "$@"
`;

/** The image's root file system, in a folder of its own. */
export class Image implements Disposable {
  readonly root: string;
  readonly #folder: string;

  private constructor(folder: string) {
    this.#folder = folder;
    this.root = join(folder, "root");
  }

  static async assemble(): Promise<Image> {
    const image = new Image(mkdtempSync(join(tmpdir(), "tollgate-image-")));
    await assemble(image.root);
    return image;
  }

  [Symbol.dispose](): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

/** The output and the exit of a process. */
export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly out: string;
  readonly err: string;
}

/** A process in the pod, with what it printed so far. */
export class PodProcess {
  out = "";
  err = "";
  readonly ended: Promise<Ended>;
  readonly #child: ChildProcess;

  constructor(child: ChildProcess) {
    this.#child = child;
    child.stdout!.setEncoding("utf8").on("data", (text: string) => {
      this.out += text;
    });
    child.stderr!.setEncoding("utf8").on("data", (text: string) => {
      this.err += text;
    });
    this.ended = once(child, "close").then(([code, signal]) => ({
      code,
      signal,
      out: this.out,
      err: this.err,
    }));
  }

  /** Resolves when standard error matches. Rejects if the process ends before. */
  async logged(pattern: RegExp): Promise<void> {
    const ended = this.ended.then(() => {
      throw new Error(`the process ended without logging ${pattern}:\n${this.err}`);
    });
    ended.catch(() => undefined);
    while (!pattern.test(this.err)) await Promise.race([once(this.#child.stderr!, "data"), ended]);
  }

  /** Sends a signal to process 1 of the container, which is the child of `unshare`. */
  signal(signal: NodeJS.Signals): void {
    process.kill(this.#children()[0]!, signal);
  }

  /** Ends the process and its container: `--kill-child` of `unshare` has no effect after a change of the user. */
  kill(): void {
    for (const pid of this.#children()) process.kill(pid, "SIGKILL");
    this.#child.kill("SIGKILL");
  }

  #children(): number[] {
    const { pid } = this.#child;
    try {
      const text = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim();
      return text === "" ? [] : text.split(" ").map(Number);
    } catch {
      // The process has ended.
      return [];
    }
  }
}

/** A network of its own with containers of an image: their ports are the fixed ones, and nothing else can reach them. */
export class Pod implements AsyncDisposable {
  readonly #image: Image;
  readonly #network: ChildProcess;
  readonly #processes: PodProcess[] = [];

  private constructor(image: Image, network: ChildProcess) {
    this.#image = image;
    this.#network = network;
  }

  static async start(image: Image): Promise<Pod> {
    const script = "ip link set lo up && echo up && read -r _";
    const network = spawn("unshare", ["--net", "sh", "-c", script], { stdio: ["pipe", "pipe", "inherit"] });
    for await (const line of createInterface(network.stdout!)) if (line === "up") break;
    return new Pod(image, network);
  }

  /**
   * Starts a command of the image as process 1, with this environment and no other.
   * @param volumes folders and files by their place in the container
   */
  run(
    command: readonly string[],
    env: Readonly<Record<string, string>> = {},
    volumes: Readonly<Record<string, string>> = {},
  ): PodProcess {
    const mounts = Object.entries(volumes).flatMap(([target, source]) => {
      this.#mountPoint(target, source);
      return [source, target];
    });
    const unshare = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-c", CONTAIN, "sh"];
    return this.exec([...unshare, this.#image.root, ...mounts, "--", ...command], {
      PATH: process.env.PATH ?? "",
      ...env,
    });
  }

  /** Starts a command of this machine in the network of the pod. */
  exec(command: readonly string[], env: NodeJS.ProcessEnv = process.env): PodProcess {
    const args = [`--net=/proc/${this.#network.pid}/ns/net`, ...command];
    const child = spawn("nsenter", args, { env, stdio: ["ignore", "pipe", "pipe"] });
    const started = new PodProcess(child);
    this.#processes.push(started);
    return started;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const process of this.#processes) process.kill();
    await Promise.all(this.#processes.map(({ ended }) => ended));
    this.#network.stdin!.end();
    await once(this.#network, "exit");
  }

  #mountPoint(target: string, source: string): void {
    const path = join(this.#image.root, target);
    const isFolder = statSync(source).isDirectory();
    mkdirSync(isFolder ? path : dirname(path), { recursive: true });
    if (!isFolder) closeSync(openSync(path, "a"));
  }
}

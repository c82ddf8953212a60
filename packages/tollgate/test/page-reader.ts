/// <reference lib="es2025.regexp" />
import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { scaled } from "../../../tools/time-scale.ts";
import { bareEnvironment, type RunningTollgate, watchTollgate } from "./tollgate.ts";

export interface Block {
  readonly language: string;
  /** The words after the language: `file=NAME`, `service`, `retry`, `exit=N` or `repeat=N`. */
  readonly note: string;
  readonly text: string;
  /** The `text` or `json` block directly after a command: its expected output. `...` matches any text. */
  readonly printed: string | undefined;
}

/** The fenced blocks of a page. */
export function blocksOf(page: string): Block[] {
  const block =
    /^```(\w+)(?: ([^\n]*))?\n([\s\S]*?)^```$(?:\n\n```(?:text|json)\n(?<printed>[\s\S]*?)^```$)?/gm;
  return [...page.matchAll(block)].map((found) => ({
    language: found[1]!,
    note: found[2] ?? "",
    text: found[3]!,
    printed: found.groups!.printed,
  }));
}

export interface ReaderOptions {
  /** The folder in which a reader of the page types the commands. `node_modules/.bin` has the commands of npx. */
  readonly folder: string;
  /** Adapts a block, such as a unit whose window could end during the test. */
  readonly adapt?: (text: string) => string;
  /** Placeholders of the page, such as `<id>`. The first group is the value in the output of an earlier command. */
  readonly placeholders?: Readonly<Record<string, RegExp>>;
}

/** The page's `npm` commands that are skipped: the packages are installed, and the suite is running. */
const DONE_BEFORE = /^(?:npm init -y|npm install [@\w/ -]+|npm ci|npm test)$/;
const ports = {
  HOST: "127.0.0.1",
  GRPC_HOST: "127.0.0.1",
  DEBUG_HOST: "127.0.0.1",
  PORT: "0",
  GRPC_PORT: "0",
  DEBUG_PORT: "0",
};

/**
 * Follows a page block by block: writes each block with `file=NAME`, starts each `sh service`, runs each other `sh` block,
 * and compares its output. Only the ports differ. A command without `npx` is not found.
 */
export class PageReader {
  readonly #options: ReaderOptions;
  readonly #bin: Promise<string>;
  readonly #values = new Map<string, string>();
  #tollgate: RunningTollgate | undefined;
  #waymark: { readonly child: ChildProcess; readonly address: string } | undefined;

  constructor(options: ReaderOptions) {
    this.#options = options;
    this.#bin = shims();
  }

  async read(page: string): Promise<void> {
    for (const block of blocksOf(page)) {
      const adapted = this.#options.adapt?.(block.text) ?? block.text;
      if (block.note.startsWith("file=")) await this.#write(block.note.slice("file=".length), adapted);
      else if (block.language === "sh" && block.note === "service") await this.start(adapted.trim());
      else if (block.language === "sh") await this.#type(adapted, block);
      else if (block.language === "ts") assert.fail(`a program needs a file name:\n${block.text}`);
    }
  }

  async #write(name: string, text: string): Promise<void> {
    const path = join(this.#options.folder, name);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, this.#onOwnPorts(text));
  }

  /** Starts a service of the page. Stops the one before, because they use the same ports. */
  async start(command: string): Promise<void> {
    const own = command.replace("npm ci && ", "").replace(/^npm start$/, "npx tollgate serve --example");
    if (own.includes("npx waymark")) {
      await this.#stopWaymark();
      const child = await this.#spawn(own.replace(/--host=\S+/, "--host=127.0.0.1:0"), {});
      this.#waymark = { child, address: await listening(child) };
      return;
    }
    await this.#stopTollgate();
    this.#tollgate = watchTollgate(await this.#spawn(own, ports));
    await this.#tollgate.logged(/Listening for HTTP on/);
  }

  async #spawn(command: string, settings: Readonly<Record<string, string>>): Promise<ChildProcess> {
    const env = { ...(await this.#environment()), ...settings };
    // `env` takes assignments before a command, and `exec` leaves no shell between the signals and the service.
    return spawn("sh", ["-c", `exec env ${command}`], {
      cwd: this.#options.folder,
      env,
      stdio: ["ignore", "pipe", "pipe"],
    });
  }

  async #type(text: string, { note, printed }: Block): Promise<void> {
    const script = text
      .split("\n")
      .filter((line) => !line.split(" && ").every((command) => DONE_BEFORE.test(command)))
      .join("\n");
    if (script.trim() === "") return;
    const number = (name: string, otherwise: number) =>
      Number(new RegExp(`${name}=(\\d+)`).exec(note)?.[1] ?? otherwise);
    const expected = this.#filled(this.#options.adapt?.(printed ?? "") ?? printed ?? "");
    for (let left = number("repeat", 1); left > 0; left--)
      await this.#typeOnce(script, number("exit", 0), note === "retry" ? 100 : 1, left === 1 ? expected : "");
  }

  async #typeOnce(script: string, code: number, attempts: number, expected: string): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      const ended = await this.#run(this.#onOwnPorts(this.#filled(script)));
      this.#remember(ended.output);
      const missing = ended.code === code ? missingLine(expected, ended.output) : undefined;
      if (ended.code === code && missing === undefined) return;
      const why = missing === undefined ? `ended with ${ended.code}` : `does not print "${missing}"`;
      assert.ok(attempt < attempts, `${script}\n${why}:\n${ended.output}`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  /** A placeholder without a value yet matches any output. */
  #filled(text: string): string {
    const names = Object.keys(this.#options.placeholders ?? {});
    return names.reduce((filled, name) => filled.replaceAll(name, this.#values.get(name) ?? "..."), text);
  }

  #remember(output: string): void {
    for (const [name, pattern] of Object.entries(this.#options.placeholders ?? {})) {
      const value = pattern.exec(output)?.[1];
      if (value !== undefined) this.#values.set(name, value);
    }
  }

  #onOwnPorts(text: string): string {
    const tollgate = this.#tollgate;
    const own = tollgate === undefined ? "" : `npx tollgate client -dial_string ${tollgate.grpc}`;
    return text
      .replaceAll(/localhost:8080/g, () => tollgate?.http ?? "localhost:8080")
      .replaceAll(/localhost:8081/g, () => tollgate?.grpc ?? "localhost:8081")
      .replaceAll(/localhost:6070/g, () => tollgate?.debug ?? "localhost:6070")
      .replaceAll(/localhost:8082/g, () => adminOf(tollgate) ?? "localhost:8082")
      .replaceAll("http://localhost:8000", this.#waymark?.address ?? "http://localhost:8000")
      .replaceAll(/npx tollgate client(?! -dial_string)/g, (found) => own || found);
  }

  async #environment(): Promise<Record<string, string>> {
    const path = (process.env.PATH ?? "").split(delimiter).filter((each) => !each.includes("node_modules"));
    return {
      ...bareEnvironment,
      PATH: [await this.#bin, dirname(process.execPath), ...path].join(delimiter),
      ...(adminOf(this.#tollgate) !== undefined && { TOLLGATE_ADMIN: adminOf(this.#tollgate)! }),
    };
  }

  async #run(script: string) {
    const child = spawn("sh", ["-c", script], {
      cwd: this.#options.folder,
      env: await this.#environment(),
      stdio: ["ignore", "pipe", "pipe"],
      detached: true,
    });
    // A command that does not end is probably a service that the page does not mark as one. npx has children, so this
    // ends the whole group.
    const late = setTimeout(() => process.kill(-child.pid!, "SIGKILL"), scaled(30_000));
    let output = "";
    child.stdout.on("data", (chunk) => (output += chunk));
    child.stderr.on("data", (chunk) => (output += chunk));
    const [code] = await once(child, "close");
    clearTimeout(late);
    return { code: code as number | null, output };
  }

  async #stopTollgate(): Promise<void> {
    const tollgate = this.#tollgate;
    this.#tollgate = undefined;
    if (tollgate === undefined) return;
    assert.equal((await tollgate.stop()).code, 0, tollgate.log.join("\n"));
  }

  async #stopWaymark(): Promise<void> {
    const { child } = this.#waymark ?? {};
    this.#waymark = undefined;
    if (child === undefined || child.exitCode !== null) return;
    const closed = once(child, "close");
    child.kill();
    await closed;
  }

  async close(): Promise<void> {
    await this.#stopWaymark();
    await this.#stopTollgate();
    await rm(await this.#bin, { recursive: true, force: true });
  }
}

/** The address of the admin API, if it is open. */
function adminOf(tollgate: RunningTollgate | undefined): string | undefined {
  const line = tollgate?.log.find((text) => text.includes("Listening for admin on"));
  return /on '([^']+)'/.exec(line ?? "")?.[1];
}

/** A folder with an `npx` that runs the command directly, without npm's startup time and network. */
async function shims(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "tollgate-npx-"));
  const npx = '#!/bin/sh\ncommand="node_modules/.bin/$1"\nshift\nexec "$command" "$@"\n';
  await writeFile(join(folder, "npx"), npx, { mode: 0o755 });
  return folder;
}

/** The first line of the page that the output does not have, in the page's order. */
function missingLine(expected: string, output: string): string | undefined {
  const lines = output.split(/\r?\n/);
  let at = 0;
  for (const line of expected.split("\n")) {
    if (line.trim() === "" || line.trim() === "...") continue;
    const pattern = new RegExp(`^${line.split("...").map(RegExp.escape).join(".*")}$`);
    const found = lines.findIndex((each, index) => index >= at && pattern.test(each));
    if (found === -1) return line;
    at = found + 1;
  }
  return undefined;
}

/** The address in the first line that has one, on either output. */
function listening(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    const lines: string[] = [];
    for (const stream of [child.stdout!, child.stderr!]) {
      createInterface(stream).on("line", (line) => {
        lines.push(line);
        const address = /http:\/\/[\d.]+:\d+/.exec(line)?.[0];
        if (address !== undefined) resolve(address);
      });
    }
    child.once("close", () => reject(new Error(`waymark ended:\n${lines.join("\n")}`)));
  });
}

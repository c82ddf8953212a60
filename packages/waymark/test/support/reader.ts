import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { scaled } from "../../../../tools/time-scale.ts";
import { userEnvironment } from "../../../../tools/user-environment.ts";
import { temporaryFolder } from "./packed.ts";
import { type Block, type Command, commandsOf, prints, quotes } from "./pages.ts";
import { Project, type Serving } from "./project.ts";

const REPOSITORY = fileURLToPath(new URL("../../../..", import.meta.url));
const CREATE = join(REPOSITORY, "packages/create-waymark/bin/create-waymark.mjs");
/** Languages of blocks that are only shown. */
const SHOWN = new Set(["text", "json", "http", "nginx", "dockerfile"]);

/**
 * Follows one page from top to bottom, in a folder after `npm init -y` and `npm install`. Writes blocks with a file name,
 * runs the commands of `console` blocks, and compares their output. Adds nothing that the page does not say: a command
 * without `npx`, a package without `npm install`, or a curl before the server's start fails.
 */
export class Reader {
  /** The folder of the commands. A page changes it with `cd`. */
  #folder: string;
  readonly #top: string;
  readonly #kept: ReadonlySet<string>;
  readonly #linked: string[] = [];
  readonly #bin = temporaryFolder("bin");
  #serving: Serving | undefined;
  /** The file that receives the server's output. */
  #log: string | undefined;

  constructor(folder: string) {
    this.#folder = folder;
    this.#top = folder;
    this.#kept = new Set(readdirSync(folder));
    // Replaces `npx` to save its startup time and its network access.
    const npx = '#!/bin/sh\ncommand="node_modules/.bin/$1"\nshift\nexec "$command" "$@"\n';
    writeFileSync(join(this.#bin, "npx"), npx, { mode: 0o755 });
  }

  async read(block: Block): Promise<void> {
    if (block.info === "elsewhere") {
      // Code of another framework, or of a package that the tests do not install.
    } else if (block.info.startsWith("file=")) {
      const file = block.info.slice("file=".length);
      assert.ok(quotes(readFileSync(join(REPOSITORY, file), "utf8"), block.text), `${file} has other lines`);
    } else if (block.language === "console" && block.info !== "") {
      // The suite of the runtimes runs the commands of another runtime.
    } else if (block.language === "console") {
      for (const command of commandsOf(block)) await this.#type(command);
    } else if (/^[\w./-]+\.\w+$/.test(block.info)) {
      await this.#stop();
      const path = join(this.#folder, block.info);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, block.text);
    } else if (block.language === "sh") {
      // `python-docs.test.ts` runs the commands of Python's servers.
    } else if (!SHOWN.has(block.language))
      assert.fail("a block of code needs a file name, so that it is run");
  }

  async #type(command: Command): Promise<void> {
    const enters = /^cd ([\w-]+)$/.exec(command.text);
    if (enters !== null) {
      this.#folder = join(this.#folder, enters[1]!);
      return;
    }
    if (command.text === "npm install") return this.#installProject();
    if (command.text === "npm run dev") return this.#serve(command, "", scriptOf(this.#folder, "dev"), "");
    const install = /^npm install (?:--save-dev )?(.+)$/.exec(command.text);
    if (install !== null) return this.#install(install[1]!.split(" "));
    const serves = /^((?:\w+=\S+ )*)npx waymark((?: --\S+)*)(?: > ([\w.]+))?$/.exec(command.text);
    if (serves !== null && !/--(help|version)/.test(command.text)) {
      await this.#serve(command, "", serves[2]!, serves[1]!);
      this.#log = serves[3] === undefined ? undefined : join(this.#folder, serves[3]);
      return;
    }
    const starts = /^((?:\w+=\S+ )*)npm start -w (\S+)$/.exec(command.text);
    if (starts !== null) return this.#serve(command, starts[2]!, startOf(starts[2]!), starts[1]!);
    let shown = await this.#run(command);
    // A server may write its log after its answer.
    const deadline = performance.now() + scaled(5_000);
    while (!prints(shown, command.output) && command.text.endsWith(".txt") && performance.now() < deadline) {
      await wait(scaled(20));
      shown = await this.#run(command);
    }
    assert.ok(
      prints(shown, command.output),
      `\n$ ${command.text}\n${shown}\ninstead of\n${command.output.join("\n")}`,
    );
  }

  async #run(command: Command): Promise<string> {
    if (this.#log !== undefined) writeFileSync(this.#log, this.#serving!.stdout());
    const printed = await this.#shell(this.#local(command.text));
    return this.#serving === undefined
      ? printed
      : printed.replaceAll(this.#serving.url, "http://localhost:8000");
  }

  /** Gives a new project the packages of its package.json. */
  #installProject(): void {
    const { devDependencies } = JSON.parse(readFileSync(join(this.#folder, "package.json"), "utf8")) as {
      devDependencies: Readonly<Record<string, string>>;
    };
    const modules = join(this.#top, "node_modules");
    symlinkSync(modules, join(this.#folder, "node_modules"));
    this.#install(Object.keys(devDependencies).filter((name) => !existsSync(join(modules, name))));
  }

  /** Links the repository's copies of the packages, which replaces `npm install` without network access. */
  #install(names: readonly string[]): void {
    for (const name of names) {
      const from = join(REPOSITORY, "node_modules", name);
      const link = join(this.#folder, "node_modules", name);
      mkdirSync(dirname(link), { recursive: true });
      symlinkSync(from, link);
      this.#linked.push(link);
      const { bin = {} } = JSON.parse(readFileSync(join(from, "package.json"), "utf8")) as {
        bin?: Record<string, string>;
      };
      for (const [command, file] of Object.entries(bin)) {
        const path = join(this.#folder, "node_modules", ".bin", command);
        symlinkSync(join(from, file), path);
        this.#linked.push(path);
      }
    }
  }

  async #serve(command: Command, workspace: string, args: string, settings: string): Promise<void> {
    await this.#stop();
    const launcher = join(this.#folder, "node_modules/@tollway/waymark/bin/waymark.mjs");
    const project =
      workspace === ""
        ? new Project({}, launcher, this.#folder)
        : new Project({}, undefined, join(REPOSITORY, workspace));
    const own = args.split(" ").filter((arg) => arg !== "" && !arg.startsWith("--host="));
    const environment = Object.fromEntries(
      settings
        .split(" ")
        .filter((each) => each !== "")
        .map((each) => each.split("=") as [string, string]),
    );
    this.#serving = await project.start([...own, "--host=127.0.0.1:0"], {
      BOOKSTORE_DB: join(this.#folder, "bookstore.sqlite"),
      BOARD_DB: join(this.#folder, "issue-board.sqlite"),
      ...environment,
    });
    const printed = this.#serving.stdout().replaceAll(/http:\/\/\S+/g, "http://localhost:8000");
    if (command.output.length > 0)
      assert.ok(prints(printed, command.output), `\n$ ${command.text}\n${printed}`);
  }

  /** The page says port 8000. The test uses a free port. */
  #local(text: string): string {
    const { host } = new URL(this.#serving?.url ?? "http://localhost:8000");
    if (text.startsWith("curl")) assert.ok(this.#serving, `no server is started before: ${text}`);
    return text.replaceAll("localhost:8000", host);
  }

  async #shell(text: string): Promise<string> {
    const user = userEnvironment();
    const own = (user.PATH ?? "")
      .split(delimiter)
      .filter((path) => !path.includes("node_modules") || existsSync(join(path, "node")));
    const env = { ...user, PATH: [this.#bin, dirname(process.execPath), ...own].join(delimiter) };
    const quiet = text
      .replace(/^npm create @tollway\/waymark /, `node ${CREATE} `)
      .replace(/^npm (?=run|test)/, "npm --silent ")
      .replace(/^curl /, `curl -sS --max-time ${Math.ceil(scaled(10))} `);
    const run = promisify(execFile)("sh", ["-c", `${quiet} 2>&1`], { cwd: this.#folder, env });
    return run.then(
      ({ stdout }) => stdout,
      (error: { stdout: string; message: string }) => {
        if (text.startsWith("node ")) throw new Error(error.stdout || error.message);
        return error.stdout;
      },
    );
  }

  async #stop(): Promise<void> {
    await this.#serving?.stop();
    this.#serving = undefined;
    this.#log = undefined;
  }

  /** Restores the folder. */
  async close(): Promise<void> {
    await this.#stop();
    this.#folder = this.#top;
    for (const path of this.#linked) rmSync(path);
    for (const name of readdirSync(this.#folder))
      if (!this.#kept.has(name)) rmSync(join(this.#folder, name), { recursive: true });
  }
}

/** The arguments of a workspace's `start` script, which must be the `waymark` command. */
function startOf(workspace: string): string {
  return scriptOf(join(REPOSITORY, workspace), "start");
}

/** The arguments of a script that is the `waymark` command. */
function scriptOf(folder: string, name: string): string {
  const { scripts } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as {
    scripts: Readonly<Record<string, string>>;
  };
  const [, args] = /^waymark(.*)$/.exec(scripts[name]!) ?? assert.fail(scripts[name]);
  return args!;
}

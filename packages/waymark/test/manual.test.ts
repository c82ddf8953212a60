/** Runs every code block of docs/waymark: creates the files, runs the commands and compares their output. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { globSync, mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { type Block, blocksOf, type Command, commandsOf, prints } from "./support/pages.ts";
import { Project, type Serving } from "./support/project.ts";

const MANUAL = fileURLToPath(new URL("../../../docs/waymark", import.meta.url));
const ROOT_MODULES = fileURLToPath(new URL("../../../node_modules", import.meta.url));
const LAUNCHER = fileURLToPath(new URL("../bin/waymark.mjs", import.meta.url));
/** Languages of blocks that are only shown, because nothing in them could fail. */
const SHOWN = new Set(["text", "json", "http", "nginx", "dockerfile"]);

/** Runs one page from top to bottom, like a reader. */
class Reader {
  readonly #project = new Project({});
  #args: string[] = [];
  #serving: Serving | undefined;

  constructor() {
    for (const name of ["zod", "esbuild", "@types"]) {
      symlinkSync(join(ROOT_MODULES, name), join(this.#project.folder, "node_modules", name));
    }
    const bin = join(this.#project.folder, "node_modules", ".bin");
    mkdirSync(bin);
    symlinkSync(LAUNCHER, join(bin, "waymark"));
    for (const name of ["esbuild", "tsc"]) symlinkSync(join(ROOT_MODULES, ".bin", name), join(bin, name));
  }

  async read(block: Block): Promise<void> {
    if (block.language === "console") {
      for (const command of commandsOf(block)) await this.#type(command);
    } else if (block.info === "run") {
      const name = `program-${block.line}.mts`;
      this.#project.write(name, block.text);
      await this.#shell(`node ${name}`);
    } else if (block.info !== "") {
      this.#project.write(block.info, block.text);
      await this.#stop();
    } else if (block.language === "sh") {
      // The commands of Python servers run in `python-docs.test.ts`.
    } else assert.fail("a block of code needs a file name, or `run`, so that it is run");
  }

  async #type(command: Command): Promise<void> {
    const words = command.text.replace(/^npx /, "").split(" ");
    const serves = words[0] === "waymark" && !["routes", "openapi", "build"].includes(words[1] ?? "");
    if (serves && !/--(help|version)/.test(command.text)) return this.#serve(command, words.slice(1));
    if (command.text.startsWith("curl")) await this.#serveIfNeeded();
    const printed = await this.#shell(this.#local(command.text));
    const shown =
      this.#serving === undefined ? printed : printed.replaceAll(this.#serving.url, "http://localhost:8000");
    assert.ok(
      prints(shown, command.output),
      `\n$ ${command.text}\n${shown}\ninstead of\n${command.output.join("\n")}`,
    );
  }

  async #serve(command: Command, args: string[]): Promise<void> {
    await this.#stop();
    this.#args = args.filter((arg) => !arg.startsWith("--host="));
    await this.#serveIfNeeded();
    const printed = this.#serving!.stdout().replaceAll(/http:\/\/\S+/g, "http://localhost:8000");
    if (command.output.length > 0)
      assert.ok(prints(printed, command.output), `\n$ ${command.text}\n${printed}`);
  }

  async #serveIfNeeded(): Promise<void> {
    this.#serving ??= await this.#project.start([...this.#args, "--host=127.0.0.1:0"]);
  }

  /** The page says port 8000. The test uses a free port. */
  #local(text: string): string {
    const { host } = new URL(this.#serving?.url ?? "http://localhost:8000");
    return text.replaceAll("localhost:8000", host);
  }

  async #shell(text: string): Promise<string> {
    const bin = join(this.#project.folder, "node_modules", ".bin");
    const env = { ...process.env, PATH: [bin, dirname(process.execPath), process.env.PATH].join(delimiter) };
    delete (env as Record<string, unknown>).NODE_TEST_CONTEXT;
    const quiet = text.replace(/^curl /, "curl -sS --max-time 10 ");
    const run = promisify(execFile)("sh", ["-c", `${quiet} 2>&1`], { cwd: this.#project.folder, env });
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
  }

  async close(): Promise<void> {
    await this.#stop();
  }
}

const pages = globSync("*.md", { cwd: MANUAL }).sort();

test("the manual has its pages, and each page has blocks that run", () => {
  assert.ok(pages.length >= 8, pages.join());
});

for (const page of pages) {
  test(`docs/waymark/${page}`, async () => {
    const reader = new Reader();
    try {
      for (const block of blocksOf(readFileSync(join(MANUAL, page), "utf8"))) {
        if (SHOWN.has(block.language)) continue;
        try {
          await reader.read(block);
        } catch (error) {
          throw new Error(`${page}:${block.line}: ${(error as Error).message}`, { cause: error });
        }
      }
    } finally {
      await reader.close();
    }
  });
}

test("links between the pages have targets", () => {
  for (const page of pages) {
    const text = readFileSync(join(MANUAL, page), "utf8");
    for (const [, target] of text.matchAll(/\]\((?!https?:|#)([^)#]+)/g)) {
      assert.doesNotThrow(() => readFileSync(join(MANUAL, target!)), `${page} links to ${target}`);
    }
  }
});

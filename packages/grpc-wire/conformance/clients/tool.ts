/** Runs a command line tool. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { accessSync, constants } from "node:fs";
import { readFile, realpath } from "node:fs/promises";
import { delimiter, join } from "node:path";

/** Longest duration of one call of a tool. */
const LIMIT_MS = 30_000;

export interface Outcome {
  /** -1 where a signal ended it. */
  readonly code: number;
  readonly stdout: Buffer;
  readonly stderr: string;
}

/** A tool that runs. */
export interface Running {
  readonly done: Promise<Outcome>;
  /** Resolves when its standard output satisfies `isEnough`. Rejects if the tool ends before. */
  until(isEnough: (stdout: Buffer) => boolean): Promise<void>;
  end(signal: NodeJS.Signals): void;
}

export function startTool(
  command: string,
  args: readonly string[],
  input: Uint8Array | string = "",
): Running {
  const child = spawn(command, args, { stdio: ["pipe", "pipe", "pipe"], timeout: LIMIT_MS });
  const chunks: Buffer[] = [];
  let stderr = "";
  child.stdout.on("data", (chunk: Buffer) => chunks.push(chunk));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
  child.stdin.on("error", () => {}).end(input);
  const done = new Promise<Outcome>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => resolve({ code: code ?? -1, stdout: Buffer.concat(chunks), stderr }));
  });
  done.catch(() => {});
  return {
    done,
    async until(isEnough) {
      while (!isEnough(Buffer.concat(chunks))) {
        const ended = done.then(() => true);
        if (await Promise.race([once(child.stdout, "data").then(() => false), ended]))
          throw new Error(`it ended: ${stderr.trim() || Buffer.concat(chunks).toString().slice(0, 200)}`);
      }
    },
    end: (signal) => child.kill(signal),
  };
}

export function runTool(
  command: string,
  args: readonly string[],
  input: Uint8Array | string = "",
): Promise<Outcome> {
  return startTool(command, args, input).done;
}

/** Runs a tool like `runTool`, but rejects with its output if it fails. */
export async function succeed(
  command: string,
  args: readonly string[],
  input: Uint8Array | string = "",
): Promise<Outcome> {
  const outcome = await runTool(command, args, input);
  if (outcome.code !== 0) {
    const said = outcome.stderr.trim() || outcome.stdout.toString().trim();
    throw new Error(`exit code ${outcome.code}: ${said.slice(0, 500)}`);
  }
  return outcome;
}

/** The tool that the environment variable names by its path, else the one on the PATH. */
export function findTool(variable: string, name: string): string | undefined {
  const given = process.env[variable];
  if (given !== undefined && given !== "") return given;
  return (process.env.PATH ?? "")
    .split(delimiter)
    .map((folder) => join(folder, name))
    .find((path) => {
      try {
        accessSync(path, constants.X_OK);
        return true;
      } catch {
        return false;
      }
    });
}

/** The version that a tool tells. */
export async function versionOf(command: string, ...args: string[]): Promise<string> {
  const { stdout, stderr } = await runTool(command, args);
  return /\d+\.\d+(\.\d+)?/.exec(`${stdout}${stderr}`)?.[0] ?? "of unknown version";
}

/**
 * The version of a module in a Go program, from the build information that every Go program holds as text. Tools
 * built by `go install` know it there only.
 */
export async function goModuleVersion(command: string, path: string): Promise<string> {
  const text = (await readFile(await realpath(command))).toString("latin1");
  const escaped = path.replaceAll(/[.]/g, "\\.");
  return new RegExp(`\n(?:mod|dep)\t${escaped}\tv(\\d[^\\s+]*)`).exec(text)?.[1] ?? "of unknown version";
}

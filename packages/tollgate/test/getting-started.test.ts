import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { scaled } from "../../../tools/time-scale.ts";
import { type RunningTollgate, watchTollgate } from "./tollgate.ts";

// Runs docs/getting-started.md as its reader would, block by block: `sh` blocks are commands, `sh service` one that
// goes on running, `yaml file=...` a file to write, `json` what the command before it prints. Only the ports differ.

interface Block {
  readonly kind: string;
  readonly note: string;
  readonly text: string;
}

const page = readFileSync(new URL("../../../docs/getting-started.md", import.meta.url), "utf8");
const blocks: Block[] = [...page.matchAll(/^```(\w+)(?: ([^\n]*))?\n([\s\S]*?)^```$/gm)].map(
  ([, kind, note = "", text]) => ({ kind: kind!, note, text: text! }),
);

test("docs/getting-started.md works as it stands", { timeout: scaled(60_000) }, async () => {
  const folder = await mkdtemp(join(tmpdir(), "tollgate-started-"));
  const bin = join(folder, "bin");
  let service: RunningTollgate | undefined;
  const onOwnPorts = (text: string) =>
    text
      .replaceAll("localhost:8080", service?.http ?? "")
      .replaceAll("localhost:6070", service?.debug ?? "")
      .replaceAll("npx tollgate client", `npx tollgate client -dial_string ${service?.grpc}`);
  const env = {
    PATH: `${bin}:${dirname(process.execPath)}:${process.env.PATH}`,
    HOME: folder,
    NO_COLOR: "1",
  };
  try {
    // `npx tollgate` without npm's start-up time and network: the command itself, under npx's name.
    await mkdir(bin);
    await writeFile(join(bin, "npx"), '#!/bin/sh\nshift\nexec tollgate "$@"\n', { mode: 0o755 });
    await symlink(fileURLToPath(new URL("../bin/tollgate.mjs", import.meta.url)), join(bin, "tollgate"));
    let printed = "";
    for (const { kind, note, text } of blocks) {
      if (kind === "yaml" && note.startsWith("file="))
        await writeFile(join(folder, note.slice("file=".length)), text);
      else if (kind === "json") assert.match(printed, pattern(text));
      else if (note === "service") {
        const ports = {
          HOST: "127.0.0.1",
          GRPC_HOST: "127.0.0.1",
          DEBUG_HOST: "127.0.0.1",
          PORT: "0",
          GRPC_PORT: "0",
          DEBUG_PORT: "0",
        };
        const child = spawn("sh", ["-c", `exec env ${text}`], {
          cwd: folder,
          env: { ...env, ...ports },
          stdio: ["ignore", "pipe", "pipe"],
        });
        service = watchTollgate(child);
        await service.logged(/Listening for HTTP on/);
      } else if (kind === "sh") {
        const expected = Number(/exit=(\d+)/.exec(note)?.[1] ?? 0);
        for (let attempt = 0; ; attempt++) {
          const { code, output } = await run(onOwnPorts(text), folder, env);
          printed = output;
          if (code === expected) break;
          const again = note === "retry" && attempt < 100;
          assert.ok(again, `${text}\nended with ${code}:\n${output}`);
          await new Promise((resolve) => setTimeout(resolve, 50));
        }
      }
    }
    assert.equal((await service!.stop()).code, 0);
  } finally {
    await service?.stop("SIGKILL");
    await rm(folder, { recursive: true, force: true });
  }
});

/** The text, with `...` standing for anything. */
function pattern(text: string): RegExp {
  return new RegExp(
    text
      .trim()
      .replace(/[.*+?^${}()|[\]\\]/g, "\\$&")
      .replaceAll("\\.\\.\\.", ".*"),
  );
}

async function run(script: string, cwd: string, env: Record<string, string>) {
  const child = spawn("sh", ["-c", script], { cwd, env, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  child.stdout.on("data", (chunk) => (output += chunk));
  child.stderr.on("data", (chunk) => (output += chunk));
  const [code] = await once(child, "close");
  return { code: code as number, output };
}

/** Runs the commands of the manual's page on deployment, on the runtime that each names. */
import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { delimiter, dirname, join } from "node:path";
import { after, test } from "node:test";
import { setTimeout } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { userEnvironment } from "../../../tools/user-environment.ts";
import { freePort } from "../test/support/free-port.ts";
import { installPacked } from "../test/support/packed.ts";
import { blocksOf, type Command, commandsOf, prints } from "../test/support/pages.ts";
import { linkBundler } from "./packed.ts";

const PAGE = fileURLToPath(new URL("../../../docs/waymark/deployment.md", import.meta.url));
const { BUN = "", DENO = "", WORKERD = "" } = process.env;

const folder = await installPacked("waymark");
linkBundler(folder);
const paths = [join(folder, "node_modules", ".bin"), dirname(BUN), dirname(DENO), dirname(WORKERD)];
const environment = userEnvironment();
const env = { ...environment, NO_COLOR: "1", PATH: [...paths, environment.PATH].join(delimiter) };

for (const block of blocksOf(readFileSync(PAGE, "utf8"))) {
  if (block.language === "console")
    test(`${block.info || "every runtime"}, line ${block.line}`, async () => run(commandsOf(block)));
  else if (block.info !== "")
    test(`${block.info}, line ${block.line}`, () => {
      const path = join(folder, block.info);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, block.text);
    });
}

/** Runs commands. The page says port 8080; a server gets a free port. */
async function run(commands: readonly Command[]): Promise<void> {
  let port = 0;
  for (const { text, output } of commands) {
    if (text.startsWith("npm install")) continue;
    if (/^(?:\w+=\S+ )*(?:node|bun|deno|workerd) (?!invoke)/.test(text)) port = await serve(text);
    else {
      const here = text.replaceAll("localhost:8080", `127.0.0.1:${port}`).replace(/^curl /, "curl -sS ");
      const shell = ["-c", `${here.replace(/^npx /, "")} 2>&1`];
      const printed = await promisify(execFile)("sh", shell, { cwd: folder, env }).then(
        ({ stdout }) => stdout,
        ({ stdout }: { stdout: string }) => stdout,
      );
      assert.ok(prints(printed, output), `\n$ ${text}\n${printed}\ninstead of\n${output.join("\n")}`);
    }
  }
}

/** Starts a server. Resolves with its port, once it accepts connections. */
async function serve(text: string): Promise<number> {
  const port = await freePort();
  const config = join(folder, "worker.capnp");
  if (text.startsWith("workerd"))
    writeFileSync(config, readFileSync(config, "utf8").replace(/127\.0\.0\.1:\d+/, `127.0.0.1:${port}`));
  const command = `exec env ${text.replace("PORT=8080", `PORT=${port}`)}`;
  const child = spawn("sh", ["-c", command], { cwd: folder, env, stdio: ["ignore", "ignore", "inherit"] });
  after(() => child.kill("SIGKILL"));
  while (!(await accepts(port))) {
    assert.equal(child.exitCode, null, `${text} has ended`);
    await setTimeout(50);
  }
  return port;
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    socket.once("connect", () => resolve(true)).once("error", () => resolve(false));
    socket.once("connect", () => socket.destroy());
  });
}

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const LAUNCHER = fileURLToPath(new URL("../../packages/waymark/bin/waymark.mjs", import.meta.url));
const PACKAGE = fileURLToPath(new URL("../../packages/waymark", import.meta.url));
const FILES = 50;
const RUNS = 7;

/** Measures the time to the first response with 100 controllers in 50 files. The first run fills the compile cache. */
export async function measureStart(folder: string): Promise<void> {
  const app = join(folder, "app");
  mkdirSync(join(app, "controllers"), { recursive: true });
  mkdirSync(join(app, "node_modules", "@tollway"), { recursive: true });
  symlinkSync(PACKAGE, join(app, "node_modules", "@tollway", "waymark"));
  for (let at = 0; at < FILES; at++)
    writeFileSync(join(app, "controllers", `module${at}.ts`), moduleText(at));
  const times: number[] = [];
  for (let run = 0; run <= RUNS; run++) {
    const time = await startOnce(app, join(folder, "cache"));
    if (run > 0) times.push(time);
  }
  times.sort((one, other) => one - other);
  const [fastest, slowest] = [times[0]!, times.at(-1)!];
  console.log(
    `\nstart to first response, 100 controllers in ${FILES} files: ` +
      `${times[times.length >> 1]!.toFixed(0)} ms (${fastest.toFixed(0)} to ${slowest.toFixed(0)})`,
  );
}

async function startOnce(app: string, cache: string): Promise<number> {
  const from = performance.now();
  const child = spawn(process.execPath, [LAUNCHER, "--host=127.0.0.1:0", "--quiet"], {
    cwd: app,
    env: { ...process.env, NODE_COMPILE_CACHE: cache },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [line] = (await once(child.stdout, "data")) as [Buffer];
  const url = /http:\S+/.exec(line.toString())![0];
  await (await fetch(`${url}/module0/one/1?a=x`)).text();
  const time = performance.now() - from;
  child.kill("SIGTERM");
  await once(child, "exit");
  return time;
}

function moduleText(at: number): string {
  return `import { Controller } from "@tollway/waymark";

interface Item${at} { id: number; label: string; tags?: string[] }

export class One extends Controller {
  GET(id: number, { a, b = 1 }: { a: string; b?: number }) { return { id, a, b }; }
  POST(item: Item${at}) { return item; }
}

export class Two extends Controller {
  GET({ since }: { since?: Date }) { return { since }; }
  async DELETE(id: number) { return { id }; }
}
`;
}

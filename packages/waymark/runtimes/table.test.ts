/** The table of cases over the server of each runtime: the application as source, and as a bundle. */
import assert from "node:assert/strict";
import { cpSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { command, installPacked } from "../test/support/packed.ts";
import { type CaseAnswer, requestOf } from "../test/table/case.ts";
import { cases } from "../test/table/cases.ts";
import { checkAnswer } from "../test/table/check.ts";
import { socketDriver } from "../test/table/drivers.ts";
import { serveFunction } from "./lambda/function-url.ts";
import { linkBundler, waymark } from "./packed.ts";
import { type Program, serveFile, serveWorker, writeServer } from "./programs.ts";

const folder = await installPacked("waymark");
linkBundler(folder);
cpSync(
  fileURLToPath(new URL("../test/fixtures/table/controllers", import.meta.url)),
  join(folder, "controllers"),
  {
    recursive: true,
  },
);
await command(folder, "npm", "pkg", "set", "type=module");
writeFileSync(
  join(folder, "app.ts"),
  `import { Application } from "@tollway/waymark";

export const application = new Application({
cors: { origins: ["https://app.example"], credentials: true, exposeHeaders: ["x-made"] },
log: () => undefined,
});
`,
);
await waymark(folder, "build");

/** Each way to serve the application. */
const WAYS = {
  "node, source": async () => serveFile("node", writeServer(folder, "node")),
  "node, bundle": async () => serveFile("node", await bundle("node")),
  "bun, source": async () => serveFile("bun", writeServer(folder, "bun")),
  "bun, bundle": async () => serveFile("bun", await bundle("bun")),
  "deno, source": async () => serveFile("deno", writeServer(folder, "deno")),
  "deno, bundle": async () => serveFile("deno", await bundle("deno")),
  "workerd, bundle": async () => serveWorker(await bundle("worker", "--node-compat")),
  "lambda, bundle": async () => serveFunction(await bundle("lambda")),
  "lambda, streamed": async () => serveFunction(await bundle("lambda-stream")),
} as const satisfies Readonly<Record<string, () => Promise<Program>>>;

async function bundle(target: string, ...options: string[]): Promise<string> {
  const file = join(folder, `table-${target}.mjs`);
  await waymark(folder, "build", "--app=app.ts", `--target=${target}`, `--out=${file}`, ...options);
  return file;
}

/** On Bun, an event stream that has no event yet begins with a comment, because the head waits for the first byte. */
function withoutOpening(answer: CaseAnswer): CaseAnswer {
  const text = Buffer.from(answer.body).toString("latin1");
  return text.startsWith(":\n\n") ? { ...answer, body: answer.body.subarray(3) } : answer;
}

for (const [way, serve] of Object.entries(WAYS)) {
  const name = way.split(",")[0] as "node" | "bun" | "deno" | "workerd" | "lambda";
  test(way, async (context) => {
    const program = await serve();
    const drive = socketDriver(program.port);
    for (const row of cases) {
      if (row.except?.[name] !== undefined) continue;
      await context.test(row.name, async () => {
        try {
          const answer = await drive(requestOf(row));
          checkAnswer(row, name === "bun" ? withoutOpening(answer) : answer);
        } catch (error) {
          throw new Error(`${(error as Error).message}\n${program.printed()}`, { cause: error });
        }
      });
    }
    const status = await program.stop();
    // workerd does not wait for anything.
    if (name !== "workerd") assert.equal(status, 0, program.printed());
  });
}

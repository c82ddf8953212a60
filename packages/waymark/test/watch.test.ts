/** `waymark --watch`: reloads of controllers, restarts for other changes, and the port, which stays open. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { scaled } from "../../../tools/time-scale.ts";
import { reloadOnChange } from "../src/launcher/watch/watched.ts";
import { Project, type Serving } from "./support/project.ts";

const ARGS = ["--host=127.0.0.1:0", "--watch", "--quiet"];

/** An application that counts how often its database was opened. */
const APP = {
  "database.ts": "export const database = { opened: 0 };",
  "app.ts": `import { Application } from "@tollway/waymark";
import { database } from "./database.ts";
export const application = new Application({ onStart() { database.opened++; } });`,
};

function controller(value: string, imports = ""): string {
  return `import { Controller } from "@tollway/waymark";
import { database } from "../database.ts";
${imports}
export class Default extends Controller { GET() { return { pid: process.pid, opened: database.opened, value: ${value} }; } }`;
}

interface Shown {
  readonly pid: number;
  readonly opened: number;
  readonly value: unknown;
}

async function ask(serving: Serving, path = "/"): Promise<Shown> {
  const response = await fetch(serving.url + path, { headers: { connection: "close" } });
  return (await response.json()) as Shown;
}

/** Asks until the value is the expected one. Every request must be answered. */
async function until(serving: Serving, value: unknown, path = "/"): Promise<Shown> {
  let shown: Shown | undefined;
  for (const end = performance.now() + scaled(10_000); performance.now() < end; ) {
    shown = await ask(serving, path);
    if (JSON.stringify(shown.value) === JSON.stringify(value)) return shown;
    await wait(10);
  }
  return assert.fail(`${JSON.stringify(shown)} instead of ${value}: ${serving.stdout()}${serving.stderr()}`);
}

test("a change of a controller is loaded in the same process, which keeps its database", async () => {
  const project = new Project({ ...APP, "controllers/index.ts": controller("1") });
  const serving = await project.start([...ARGS, "--app=app.ts"]);
  const first = await until(serving, 1);
  project.write("controllers/index.ts", controller("2"));
  assert.deepEqual(await until(serving, 2), { ...first, value: 2 });
  await serving.printed(/reloaded in \d+ ms/);
  project.write("controllers/_part.ts", 'export const part = "a";');
  project.write("controllers/index.ts", controller("part", 'import { part } from "./_part.ts";'));
  await until(serving, "a");
  project.write("controllers/_part.ts", 'export const part = "b";');
  assert.deepEqual(await until(serving, "b"), { ...first, value: "b" });
  project.write("controllers/deep/added.ts", controller('"added"').replace("../", "../../"));
  assert.deepEqual(await until(serving, "added", "/deep/added"), { ...first, value: "added" });
  assert.equal(await serving.stop(), 0);
});

test("a change of a module that the application uses starts a new process on the same port", async () => {
  const project = new Project({
    ...APP,
    "controllers/index.ts": controller("version", 'import { version } from "./_version.ts";'),
    "controllers/_version.ts": "export const version = 1;",
  });
  const serving = await project.start([...ARGS, "--app=app.ts"]);
  const first = await until(serving, 1);
  project.write("database.ts", "export const database = { opened: 10 };");
  let next = await ask(serving);
  while (next.pid === first.pid) next = await ask(serving);
  assert.deepEqual(next, { pid: next.pid, opened: 11, value: 1 });
  // From now on the application imports a file of the controllers, which it must not have twice.
  project.write("app.ts", `import "./controllers/_version.ts";\n${APP["app.ts"]}`);
  let third = await ask(serving);
  while (third.pid === next.pid) third = await ask(serving);
  project.write("controllers/_version.ts", "export const version = 2;");
  const fourth = await until(serving, 2);
  assert.notEqual(fourth.pid, third.pid);
  assert.equal(await serving.stop(), 0);
});

test("after a broken change the earlier controllers go on serving", async () => {
  const project = new Project({ ...APP, "controllers/index.ts": controller("1") });
  const serving = await project.start([...ARGS, "--app=app.ts"]);
  const first = await until(serving, 1);
  project.write("controllers/index.ts", controller("1 +"));
  await serving.printed(/controllers\/index\.ts:4:\d+: [\s\S]*the earlier controllers go on serving/);
  assert.deepEqual(await ask(serving), first);
  project.write("controllers/index.ts", controller("3"));
  assert.deepEqual(await until(serving, 3), { ...first, value: 3 });
  assert.doesNotMatch(serving.stdout() + serving.stderr(), /waymark=/);
  assert.equal(await serving.stop(), 0);
});

test("a change of a file that has only types is a reload", async () => {
  const project = new Project({
    "controllers.ts": `import { Controller } from "@tollway/waymark";
import type { Size } from "./size.ts";
export class Default extends Controller { POST({ value }: { value: Size }) { return { pid: process.pid, value }; } }`,
    "size.ts": 'export type Size = "small";',
  });
  const serving = await project.start(ARGS);
  const post = async (value: string) => {
    const response = await fetch(serving.url, { method: "POST", body: new URLSearchParams({ value }) });
    return (await response.json()) as { status?: number; pid?: number };
  };
  const { pid } = await post("small");
  assert.equal((await post("large")).status, 400);
  project.write("size.ts", 'export type Size = "small" | "large";');
  await serving.printed(/reloaded in \d+ ms/);
  assert.deepEqual(await post("large"), { pid, value: "large" });
  assert.equal(await serving.stop(), 0);
});

test("while the application cannot start, requests get the reason", async () => {
  const project = new Project({ ...APP, "controllers/index.ts": controller("1") });
  const serving = await project.start([...ARGS, "--app=app.ts"]);
  project.write("database.ts", 'throw new Error("no disk"); export const database = { opened: 0 };');
  await serving.printed(/waiting for a change/);
  const response = await fetch(serving.url);
  assert.equal(response.status, 503);
  const { detail } = (await response.json()) as { detail: string };
  assert.match(detail, /^the application cannot start: .*database\.ts:1.*no disk/);
  project.write("database.ts", "export const database = { opened: 0 };");
  await serving.printed(/Waymark serves[\s\S]*Waymark serves/);
  await until(serving, 1);
  assert.equal(await serving.stop(), 0);
});

test("a process that ends is replaced at the next change", async () => {
  const project = new Project({ ...APP, "controllers/index.ts": controller("1") });
  const serving = await project.start([...ARGS, "--app=app.ts"]);
  const first = await until(serving, 1);
  // The request ends the process.
  project.write("controllers/index.ts", controller("process.exit(7)"));
  await serving.printed(/reloaded/);
  await assert.rejects(ask(serving));
  await serving.printed(/waiting for a change/);
  assert.equal((await fetch(serving.url)).status, 503);
  project.write("controllers/index.ts", controller("2"));
  await serving.printed(/Waymark serves[\s\S]*Waymark serves/);
  assert.notEqual((await until(serving, 2)).pid, first.pid);
  assert.equal(await serving.stop(), 0);
});

test("the watched server prints its requests, and where its document is", async () => {
  const project = new Project({
    "controllers.ts": `import { Controller } from "@tollway/waymark";
export class Default extends Controller { GET({ q = "" }: { q?: string }) { return q; } }`,
    "app.ts": `import { Application } from "@tollway/waymark";
export const application = new Application({ openapi: { path: "/api.json", page: false } });`,
  });
  const serving = await project.start(["--host=127.0.0.1:0", "--watch", "--app=app.ts"]);
  const document = /OpenAPI document: (\S+)\n/.exec(serving.stdout())![1]!;
  assert.equal(document, `${serving.url}/api.json`);
  assert.equal((await fetch(document)).status, 200);
  await fetch(`${serving.url}/?q=%0A`);
  await serving.printed(/^GET \/\?q=%0A 200, \d+\.\d ms$/m);
  await fetch(`${serving.url}/missing`);
  await serving.printed(/^GET \/missing 404, \d+\.\d ms$/m);
  await serving.stop();
  const quiet = await project.start([...ARGS, "--app=app.ts"]);
  await fetch(quiet.url);
  await quiet.stop();
  assert.doesNotMatch(quiet.stdout(), /GET/);
});

test("a process asks for its successor after as many reloads as the manual says", async () => {
  const manual = readFileSync(new URL("../../../docs/waymark/serving.md", import.meta.url), "utf8");
  const [, most] = /^\| (\d+) reloads \| a restart/m.exec(manual)!;
  const told: object[] = [];
  const before = Object.getOwnPropertyDescriptor(process, "send");
  const disconnects = process.listeners("disconnect");
  Object.defineProperty(process, "send", {
    configurable: true,
    value: (message: object) => told.push(message),
  });
  try {
    const application = { options: { controllers: {} }, reload: async () => ({ origins: [] }) as never };
    reloadOnChange({ application, after: async () => {}, print: () => {}, describe: String });
    const kinds: string[] = [];
    for (let change = 0; change <= Number(most); change++) {
      told.length = 0;
      process.emit("message", { changed: [] }, undefined);
      await wait(0);
      kinds.push(Object.keys(told.at(-1)!)[0]!);
    }
    assert.equal(kinds.indexOf("restart"), Number(most));
    assert.deepEqual(new Set(kinds.slice(0, -1)), new Set(["reloaded"]));
  } finally {
    if (before === undefined) delete (process as { send?: unknown }).send;
    else Object.defineProperty(process, "send", before);
    process.removeAllListeners("message");
    for (const listener of process.listeners("disconnect"))
      if (!disconnects.includes(listener)) process.off("disconnect", listener as () => void);
  }
});

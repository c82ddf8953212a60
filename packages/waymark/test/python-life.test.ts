import assert from "node:assert/strict";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { scaled } from "../../../tools/time-scale.ts";
import { json, ROBUST, readAll, sent, start, written } from "./python/robust.ts";
import { COMMANDS, gone, isRunning, nodesUnder, PythonServer } from "./python/server.ts";
import { freePort } from "./support/free-port.ts";
import { temporaryFolder } from "./support/packed.ts";

const folder = temporaryFolder("python-life");
const UVICORN = COMMANDS.uvicorn;
const GUNICORN = COMMANDS.gunicorn;
const TERMINAL = join(ROBUST, "..", "terminal.py");

/** Longest time that a Node process may outlive its Python process. */
const AFTERLIFE = scaled(5_000);

function nodesOf(server: PythonServer, count: number): number[] {
  const nodes = nodesUnder(server.child.pid!);
  assert.equal(nodes.length, count, `${nodes.length} Node processes: ${nodes.join(", ")}`);
  return nodes;
}

for (const [name, command] of [
  ["uvicorn", UVICORN],
  ["gunicorn, with threads", [...GUNICORN, "--threads=200"]],
] as const) {
  test(`${name}: 200 slow requests at once, in one Node process`, async () => {
    const server = await start(command);
    const before = Date.now();
    const answers = await Promise.all(Array.from({ length: 200 }, () => json(server, "/slow?ms=1000")));
    const [pid] = nodesOf(server, 1);
    for (const answer of answers) assert.deepEqual(answer, { pid, ms: 1000 });
    assert.ok(Date.now() - before < scaled(60_000), "they did not wait for each other");
    await server.stop();
    await gone([pid!], AFTERLIFE);
  });

  test(`${name}: Node dies: 502 for requests in progress, and the next one is served`, async () => {
    const server = await start(command);
    const [pid] = nodesOf(server, 1);
    const begun = await sent(server, "GET /endless?file=/dev/null HTTP/1.1\nhost: x\n\n");
    await once(begun, "readable");
    const waiting = Array.from({ length: 4 }, () => fetch(`${server.url}/slow?ms=60000`));
    // All of them are in progress once a later request is answered.
    await json(server, "/slow?ms=200");
    process.kill(pid!, "SIGKILL");
    for (const answer of await Promise.all(waiting)) {
      assert.equal(answer.status, 502);
      assert.equal(answer.headers.get("content-type"), "application/problem+json");
      assert.equal(((await answer.json()) as { title: string }).title, "Bad Gateway");
    }
    begun.resume();
    await once(begun, "close");
    assert.notEqual(await back(server), pid);
    await server.printed(/waymark: Node has ended \(signal 9\); restarting it/);
    // A handler that ends its process has the same effect.
    assert.equal((await fetch(`${server.url}/crash`)).status, 502);
    await back(server);
    const nodes = nodesOf(server, 1);
    await server.stop();
    await gone(nodes, AFTERLIFE);
  });

  test(`${name}: killed, it leaves no Node, not even with a handler in an endless loop`, async () => {
    const server = await start(command);
    const nodes = nodesOf(server, 1);
    const spinning = fetch(`${server.url}/spin`).catch(() => undefined);
    await server.printed(/spinning/);
    process.kill(-server.child.pid!, "SIGSTOP");
    assert.ok(isRunning(nodes[0]!));
    process.kill(-server.child.pid!, "SIGCONT");
    for (const pid of pythonsUnder(server)) process.kill(pid, "SIGKILL");
    await gone(nodes, AFTERLIFE);
    await spinning;
    await server.ended;
  });

  test(`${name}: a closed terminal leaves no process`, async () => {
    const server = new PythonServer(["/usr/bin/python3", TERMINAL, ...command], ROBUST, {
      FRAMEWORK_PREFIX: "controllers",
    });
    await server.ready();
    const nodes = nodesOf(server, 1);
    const [terminal, master] = server.processes();
    server.child.stdin!.end();
    await gone(nodes, AFTERLIFE);
    // gunicorn outlives its terminal, because a hangup makes it reload.
    if (name !== "uvicorn") {
      while (nodesUnder(master!).length === 0) await new Promise((resolve) => setTimeout(resolve, 20));
      nodes.push(...nodesUnder(master!));
      process.kill(master!, "SIGTERM");
    }
    await gone([terminal!, master!, ...nodes], AFTERLIFE);
  });
}

/** Waits for the replacement of a process that died. Requests to the dying process may still fail. */
async function back(server: PythonServer): Promise<unknown> {
  const deadline = Date.now() + scaled(10_000);
  for (;;) {
    const response = await fetch(`${server.url}/pid`);
    if (response.status === 200) return response.json();
    assert.ok(response.status === 502 && Date.now() < deadline, `${response.status}`);
  }
}

function pythonsUnder(server: PythonServer): number[] {
  return server.processes().filter((pid) => !nodesUnder(server.child.pid!).includes(pid));
}

test("gunicorn replaces a worker with a handler in an endless loop, and its Node", async () => {
  // The start of a worker must not take that long either.
  const seconds = Math.ceil(scaled(2000) / 1000);
  const server = await start([...GUNICORN, `--timeout=${seconds}`]);
  const [pid] = nodesOf(server, 1);
  const spinning = fetch(`${server.url}/spin`).catch(() => undefined);
  await server.printed(/WORKER TIMEOUT/);
  await gone([pid!], AFTERLIFE);
  await spinning;
  assert.equal(await json(server, "/"), "Default handler");
  const nodes = nodesOf(server, 1);
  assert.notEqual(nodes[0], pid);
  await server.stop();
  await gone(nodes, AFTERLIFE);
});

test("gunicorn --preload: every worker has its own Node", async () => {
  const server = await start([...GUNICORN, "--preload", "--workers=2"]);
  const pids = new Set<unknown>();
  while (pids.size < 2) {
    const some = Array.from({ length: 8 }, () => json(server, "/slow?ms=50"));
    for (const answer of await Promise.all(some)) pids.add((answer as { pid: number }).pid);
  }
  const nodes = nodesUnder(server.child.pid!);
  assert.ok(nodes.length >= 2 && nodes.length <= 3, "two workers, and the one that looked ahead");
  const { status } = await server.stop();
  assert.equal(status, 0);
  await gone(nodes, AFTERLIFE);
});

test("after a reload, the old Node lives only until its answers are complete", async () => {
  const gunicorn = await start(GUNICORN);
  const [old] = nodesOf(gunicorn, 1);
  const begun = join(folder, "reload-begun");
  const slow = json(gunicorn, `/slow?ms=500&begun=${begun}`);
  await written(begun, /begun/);
  gunicorn.child.kill("SIGHUP");
  assert.deepEqual(await slow, { pid: old, ms: 500 });
  await gone([old!], AFTERLIFE);
  assert.notEqual(await json(gunicorn, "/pid"), old);
  await gunicorn.stop();

  writeFileSync(join(folder, "settings.py"), "");
  const uvicorn = await start([
    ...UVICORN,
    `--port=${await freePort()}`,
    "--reload",
    `--reload-dir=${folder}`,
  ]);
  const [before] = nodesOf(uvicorn, 1);
  // The watcher may not have taken its first snapshot of the files yet.
  let edits = 0;
  const editing = setInterval(() => writeFileSync(join(folder, "settings.py"), `edits = ${++edits}\n`), 300);
  await gone([before!], scaled(10_000)).finally(() => clearInterval(editing));
  assert.notEqual(await json(uvicorn, "/pid"), before);
  const nodes = nodesUnder(uvicorn.child.pid!);
  await uvicorn.stop();
  await gone(nodes, AFTERLIFE);
});

test("answers in progress are completed when the server stops", async () => {
  for (const [command, signal] of [
    [UVICORN, "SIGTERM"],
    [UVICORN, "SIGINT"],
    [GUNICORN, "SIGTERM"],
    [COMMANDS.hypercorn, "SIGTERM"],
  ] as const) {
    const server = await start(command);
    const begun = `stop-${command.join("-")}-${signal}`.replaceAll(/[^\w-]/g, "-");
    const slow = json(server, `/slow?ms=600&begun=${join(folder, begun)}`);
    await written(join(folder, begun), /begun/);
    // A terminal or a supervisor signals the whole process group.
    process.kill(-server.child.pid!, signal);
    assert.equal(((await slow) as { ms: number }).ms, 600, command.join(" "));
    await server.ended;
  }
});

test("onStart runs before the first request, onStop after the last", async () => {
  for (const name of ["uvicorn", "hypercorn", "daphne", "gunicorn"] as const) {
    const notes = join(folder, `notes-${name}`);
    const server = await start(name, { WAYMARK_APP: "app.ts", NOTES: notes });
    await written(notes, /^started\n$/);
    await server.stop();
    await written(notes, /^started\nstopped\n$/);
  }
});

test("an error at the start is one line, and exit status 3", async () => {
  const rows = [
    [{ FRAMEWORK_PREFIX: "nowhere" }, /^waymark: .*nowhere.*$/],
    [
      { WAYMARK_NODE: "/nowhere/node" },
      /^waymark: WAYMARK_NODE=\/nowhere\/node is not an executable program/,
    ],
    [{ PATH: "/nowhere" }, /^waymark: cannot find Node: /],
    [{ WAYMARK_APP: "nowhere.ts" }, /^waymark: --app=nowhere\.ts: the file does not exist/],
  ] as const;
  const commands = [UVICORN, GUNICORN, ["/usr/bin/python3", "-c", "import waymark.asgi"]];
  for (const [environment, line] of rows) {
    for (const command of commands) {
      // Outside the repository, whose node_modules contains a Node.
      const server = new PythonServer(command, folder, environment);
      const { status, log } = await server.ended;
      assert.equal(status, 3, log);
      const own = log.split("\n").filter((each) => each !== "" && !/^\[.*\] \[/.test(each));
      assert.equal(own.length, 1, log);
      assert.match(own[0]!, line);
    }
  }
});

test("the main thread polls before it sleeps, less often if that is in vain; other threads only sleep", async () => {
  const script = `
import socket, threading
from waymark import _wsgi_connection as module

class Counting:
    def __init__(self, sock): self.sock, self.looks = sock, 0
    def recv(self, size, flags=0):
        self.looks += flags == socket.MSG_DONTWAIT
        return self.sock.recv(size, flags)

def looks(waits, answered):
    ours, theirs = socket.socketpair()
    connection = module.WsgiConnection(ours, 0)
    connection._socket = Counting(ours)
    counts = []
    for number in range(waits):
        if number in answered: theirs.sendall(bytes(9))
        before = connection._socket.looks
        connection.begin()
        connection._fill()
        counts.append(connection._socket.looks - before)
    return counts

module.PATIENCE = 0.001
print(looks(16, {}))
print(looks(6, {2, 3}))
thread = threading.Thread(target=lambda: print(looks(3, {})))
thread.start()
thread.join()
`;
  const { log } = await new PythonServer(["/usr/bin/python3", "-c", script], ROBUST).ended;
  const rows = log
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as number[]);
  const all = 100;
  assert.deepEqual(rows, [
    [all, 0, all, 0, 0, 0, all, 0, 0, 0, 0, 0, 0, 0, all, 0],
    [all, 0, 1, 1, all, 0],
    [0, 0, 0],
  ]);
});

test("under an event loop other than asyncio's, the lifespan fails with the reason", async () => {
  // Like trio's servers: runs a coroutine without asyncio.
  const script = `
import waymark.asgi
said = []
async def receive(): return {"type": "lifespan.startup"}
async def send(message): said.append(message)
try:
    waymark.asgi.application({"type": "lifespan"}, receive, send).send(None)
except StopIteration:
    print(said)
`;
  const command = ["/usr/bin/python3", "-c", script];
  const { status, log } = await new PythonServer(command, ROBUST, { FRAMEWORK_PREFIX: "controllers" }).ended;
  assert.equal(status, 0, log);
  assert.match(log, /^\[\{'type': 'lifespan.startup.failed', 'message': .waymark\.asgi runs on asyncio: /m);
});

test("a server whose startup fails repeatedly answers 503 until it recovers", async () => {
  const own = temporaryFolder("python-broken");
  const controllers = join(own, "app.ts");
  const good = `import { Application } from ${JSON.stringify(import.meta.resolve("@tollway/waymark"))};
import { Controller } from ${JSON.stringify(import.meta.resolve("@tollway/waymark"))};
class Default extends Controller { GET() { return "good"; } }
export const application = new Application({ controllers: { Default } });\n`;
  writeFileSync(controllers, good);
  const server = await new PythonServer(UVICORN, own, { WAYMARK_APP: "app.ts" }).ready();
  const [pid] = nodesOf(server, 1);
  writeFileSync(controllers, "export const = nonsense;\n");
  process.kill(pid!, "SIGKILL");
  await server.printed(/app\.ts/);
  const refused = await fetch(server.url);
  assert.equal(refused.status, 503);
  assert.equal(refused.headers.get("retry-after"), "1");
  writeFileSync(controllers, good);
  const deadline = Date.now() + scaled(20_000);
  while ((await fetch(server.url)).status !== 200) assert.ok(Date.now() < deadline);
  await server.stop();
});

test("a header with a NUL, or an invalid request, reaches no handler", async () => {
  const server = await start("uvicorn");
  const socket = await sent(server, "GET / HTTP/1.1\nhost: x\nx-nul: a\0b\n\n");
  assert.match(await readAll(socket), /^HTTP\/1\.1 400 /);
  assert.equal(await json(server, "/"), "Default handler");
});

import assert from "node:assert/strict";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { scaled } from "../../../tools/time-scale.ts";
import { json, readAll, sent, start, written } from "./python/robust.ts";
import { COMMANDS, type PythonServer, type ServerName } from "./python/server.ts";
import { temporaryFolder } from "./support/packed.ts";

const folder = temporaryFolder("python");
const names = ["uvicorn", "hypercorn", "daphne", "gunicorn", "gunicorn-threads"] as const;

const running = new Map<ServerName, Promise<PythonServer>>();
function serverOf(name: ServerName): Promise<PythonServer> {
  const found = running.get(name) ?? start(name);
  running.set(name, found);
  return found;
}

for (const name of names) {
  test(`${name}: large bodies in both directions, as a whole and as streams`, async () => {
    const server = await serverOf(name);
    const size = 5_000_000;
    const body = new Uint8Array(size).fill(1);
    assert.equal(await json(server, "/count", { method: "POST", body }), size);
    const chunked = { method: "POST", body: ReadableStream.from([body, body]), duplex: "half" } as const;
    assert.equal(await json(server, "/count", chunked), 2 * size);
    const large = await (await fetch(`${server.url}/large?size=${size}`)).bytes();
    assert.ok(large.length === size && large.every((byte) => byte === 7));
    const pattern = new Uint8Array(size).map((_, at) => at % 251);
    const mirrored = await (await fetch(`${server.url}/mirror`, { method: "POST", body: pattern })).bytes();
    assert.deepEqual(Buffer.compare(mirrored, pattern), 0);
  });

  // Daphne collects all pieces of an answer without waiting for the client.
  if (name !== "daphne")
    test(`${name}: a client that does not read pauses the answer, and ends it when it leaves`, async () => {
      const server = await serverOf(name);
      const file = join(folder, `endless-${name}`);
      const socket = await sent(server, `GET /endless?file=${file} HTTP/1.1\nhost: x\n\n`);
      await once(socket, "readable");
      await new Promise((resolve) => setTimeout(resolve, 500));
      socket.destroy();
      const bytes = Number(await written(file, /^\d+$/));
      assert.ok(bytes < 32 * 1024 * 1024, `${bytes} bytes were made for a client that took none`);
    });

  test(`${name}: a stream that was not sent completely leaves no open descriptor`, async () => {
    const server = await serverOf(name);
    const head = (method: string) => `${method} /files HTTP/1.1\nhost: x\nconnection: close\n\n`;
    for (const [method, status] of [
      ["HEAD", 200],
      ["PATCH", 304],
      ["POST", 500],
    ] as const)
      for (let at = 0; at < 20; at++) {
        const text = await readAll(await sent(server, head(method)));
        assert.match(text, new RegExp(`^HTTP/1\\.1 ${status} `));
      }
    assert.equal(await json(server, "/descriptors"), 0);
    // Daphne collects all pieces of an answer without waiting for the client.
    if (name === "daphne") return;
    for (let at = 0; at < 5; at++) {
      const socket = await sent(server, head("GET"));
      await once(socket, "readable");
      socket.resetAndDestroy();
    }
    const deadline = performance.now() + scaled(20_000);
    while ((await json(server, "/descriptors")) !== 0)
      assert.ok(performance.now() < deadline, "descriptors stay open");
  });

  test(`${name}: an event stream opens before its first event`, async () => {
    const server = await serverOf(name);
    const file = join(folder, `silent-${name}`);
    const socket = await sent(
      server,
      `GET /silent?file=${file} HTTP/1.1\nhost: x\naccept: text/event-stream\n\n`,
    );
    const [first] = (await once(socket, "data")) as [Buffer];
    assert.match(first.toString("latin1"), /^HTTP\/1\.1 200 [\s\S]*content-type: text\/event-stream/i);
    assert.equal(readFileSync(file, "utf8"), "open");
    socket.resetAndDestroy();
    await written(file, /ended/);
  });

  test(`${name}: a client that leaves aborts the handler`, async () => {
    const server = await serverOf(name);
    const file = join(folder, `aborted-${name}`);
    const socket = await sent(server, `GET /aborted?file=${file} HTTP/1.1\nhost: x\n\n`);
    await written(file, /began/);
    // Debian's hypercorn does not report a client that closes its connection cleanly.
    if (name === "hypercorn") socket.resetAndDestroy();
    else socket.destroy();
    await written(file, /aborted/);
    assert.equal(await json(server, "/"), "Default handler");
  });

  // Daphne fails to add its own error to the answer and leaves the client waiting.
  if (name !== "daphne")
    test(`${name}: an answer with a failed source ends incomplete`, async () => {
      const server = await serverOf(name);
      const socket = await sent(server, "GET /broken HTTP/1.1\nhost: x\n\n");
      const text = await readAll(socket);
      assert.match(text, /^HTTP\/1\.1 200 /);
      assert.match(text, /begun/);
      assert.doesNotMatch(text, /0\r\n\r\n$/, "the last chunk was sent");
      await server.printed(/half way/);
    });
}

for (const name of names)
  test(`${name}: an HTTP/1.1 request must have one Host`, async () => {
    const server = await serverOf(name);
    const rows: [string, number][] = [
      ["GET / HTTP/1.1\nhost: a\nhost: b\nconnection: close\n\n", 400],
      ["GET / HTTP/1.1\nhost: x/admin?\nconnection: close\n\n", 400],
      ["GET / HTTP/1.1\nconnection: close\n\n", 400],
      ["GET / HTTP/1.0\n\n", 200],
    ];
    for (const [request, status] of rows)
      assert.match(
        await readAll(await sent(server, request)),
        new RegExp(`^HTTP/1\\.[01] ${status} `),
        request,
      );
  });

test("an answer that does not need the body precedes it, if the server supports that", async () => {
  for (const name of ["uvicorn", "hypercorn", "gunicorn"] as const) {
    const server = await serverOf(name);
    const head = "PUT / HTTP/1.1\nhost: x\ncontent-length: 100000\n\n";
    const socket = await sent(server, head);
    const [first] = (await once(socket, "data")) as [Buffer];
    assert.match(first.toString("latin1"), /^HTTP\/1\.1 501 /, name);
    socket.destroy();
  }
});

test("an unused body is read within bounds, so that its client receives the answer", async () => {
  for (const name of ["gunicorn", "gunicorn-threads"] as const) {
    const server = await serverOf(name);
    const head = "PUT / HTTP/1.1\nhost: x\nconnection: close\ncontent-length: 3000000\n\n";
    const eager = await sent(server, head);
    const all = readAll(eager);
    eager.write(Buffer.alloc(3_000_000));
    assert.match(await all, /^HTTP\/1\.1 501 /, name);
    const slow = await sent(server, head);
    const drops = setInterval(() => slow.write("x"), 50);
    slow.on("error", () => clearInterval(drops));
    const [first] = (await once(slow, "data")) as [Buffer];
    assert.match(first.toString("latin1"), /^HTTP\/1\.1 501 /, name);
    clearInterval(drops);
    slow.destroy();
  }
});

test("the body is requested when a handler reads it", async () => {
  const server = await serverOf("uvicorn");
  const refused = await sent(server, "POST / HTTP/1.1\nhost: x\nexpect: 100-continue\ncontent-length: 4\n\n");
  const [first] = (await once(refused, "data")) as [Buffer];
  assert.match(first.toString("latin1"), /^HTTP\/1\.1 405 /, "no 100 Continue for an unused body");
  refused.destroy();
  const wanted = await sent(
    server,
    "POST /count HTTP/1.1\nhost: x\nconnection: close\nexpect: 100-continue\ncontent-length: 4\n\n",
  );
  const [invitation] = (await once(wanted, "data")) as [Buffer];
  assert.match(invitation.toString("latin1"), /^HTTP\/1\.1 100 /);
  wanted.write("four");
  assert.match(await readAll(wanted), /\r\n\r\n4$/);
});

test("Node's log lines are in the server's log", async () => {
  for (const name of ["uvicorn", "gunicorn"] as const) {
    const server = await serverOf(name);
    assert.equal((await fetch(`${server.url}/log`)).status, 500);
    await server.printed(/a line of Node's own/);
    await server.printed(/GET \/log: Error: a fault of the handler\n\s+at /);
  }
});

test("a mounted application gets the path below its root", async () => {
  const server = await start([...COMMANDS.uvicorn, "--root-path=/api"]);
  const where = (rest: string[]) => ({ rest, address: "127.0.0.1", scheme: "http:" });
  assert.deepEqual(await json(server, "/where/a%2Fb"), where(["a/b"]));
  const mounted = await start("gunicorn", { SCRIPT_NAME: "/api" });
  assert.deepEqual(await json(mounted, "/api/where/a%2Fb/c"), where(["a/b", "c"]));
});

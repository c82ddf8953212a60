import assert from "node:assert/strict";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import type { Server } from "node:http";
import { afterEach, test } from "node:test";
import { Controller } from "@tollway/waymark";
import { createLogger } from "../observe/log.ts";
import { type HttpListener, openHttpListener } from "./http-listener.ts";

let listener: HttpListener | undefined;
let lines: string[] = [];
afterEach(async () => {
  await listener?.close(0);
  listener = undefined;
  lines = [];
});

const log = createLogger({
  writer: { write: (line) => void lines.push(line), flush: async () => {}, dropped: 0 },
});

class Default extends Controller {
  GET() {
    return "here";
  }
}

test("accept errors are logged once a minute and do not end the process", async () => {
  let server: Server | undefined;
  function seen(message: unknown): void {
    server = (message as { server: Server }).server;
  }
  subscribe("http.server.request.start", seen);
  listener = await openHttpListener({
    name: "HTTP",
    host: "127.0.0.1",
    port: 0,
    controllers: { Default },
    log,
  });
  const ask = async (): Promise<string> => (await fetch(`http://${listener!.address}/`)).text();
  try {
    assert.equal(await ask(), '"here"');
  } finally {
    unsubscribe("http.server.request.start", seen);
  }
  for (let i = 0; i < 100; i++) server!.emit("error", new Error("accept EMFILE"));
  assert.equal(await ask(), '"here"');
  assert.equal(lines.length, 1, lines.join(""));
  assert.match(lines[0]!, /level=error msg="HTTP listener: cannot accept a connection: accept EMFILE"/);
});

test("an error names the port that cannot be bound", async () => {
  listener = await openHttpListener({
    name: "HTTP",
    host: "127.0.0.1",
    port: 0,
    controllers: { Default },
    log,
  });
  const port = Number(listener.address.split(":")[1]);
  await assert.rejects(
    openHttpListener({ name: "debug", host: "127.0.0.1", port, controllers: { Default }, log }),
    new RegExp(`cannot listen for debug on 127\\.0\\.0\\.1:${port}: .*EADDRINUSE`),
  );
  assert.deepEqual(lines, []);
});

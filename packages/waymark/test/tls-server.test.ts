import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { Agent, get } from "node:https";
import { connect } from "node:net";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { Application, Controller } from "../src/index.ts";
import { type RunningServer, type ServerOptions, startServer } from "../src/server.ts";
import { command, temporaryFolder } from "./support/packed.ts";

class Default extends Controller {
  GET() {
    return "secure";
  }
}

const folder = temporaryFolder("tls");
const certificate = join(folder, "certificate.pem");
const key = join(folder, "key.pem");
const agent = new Agent({ keepAlive: true });

before(async () => {
  const subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"];
  await command(
    folder,
    "openssl",
    ...["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"],
    ...["-keyout", key, "-out", certificate, "-days", "2", ...subject],
  );
});
after(() => agent.destroy());

function start(options: Partial<ServerOptions> = {}): Promise<RunningServer> {
  const tls = { cert: readFileSync(certificate), key: readFileSync(key) };
  const application = new Application({ controllers: { Default } });
  return startServer(application, { host: "localhost", port: 0, tls, ...options });
}

interface Reply {
  readonly status: number | undefined;
  readonly connection: string | undefined;
  readonly text: string;
}

function request(port: number): Promise<Reply> {
  return new Promise((resolve, reject) => {
    get({ host: "localhost", port, path: "/", ca: readFileSync(certificate), agent }, async (response) => {
      let text = "";
      for await (const piece of response) text += piece;
      resolve({ status: response.statusCode, connection: response.headers.connection, text });
    }).on("error", reject);
  });
}

test("a server with TLS options serves https, and drain() closes each connection after its next answer", async () => {
  const running = await start();
  try {
    assert.deepEqual(await request(running.port), {
      status: 200,
      connection: "keep-alive",
      text: '"secure"',
    });
    running.drain();
    assert.deepEqual(await request(running.port), { status: 200, connection: "close", text: '"secure"' });
  } finally {
    await running.stop();
  }
});

test("a stop ends connections that never complete their TLS handshake", async () => {
  const running = await start({ drainTimeout: 50 });
  const accepted = new Promise((resolve) => running.server.once("connection", resolve));
  const socket = connect(running.port, "localhost");
  const closed = new Promise((resolve) => socket.once("close", resolve));
  socket.on("error", () => undefined);
  await accepted;
  await running.stop();
  await closed;
});

test("verifyClient closes connections with other certificates before a request is read", async () => {
  const client = { cert: readFileSync(certificate), key: readFileSync(key) };
  const tls = { ...client, ca: client.cert, requestCert: true, rejectUnauthorized: true };
  for (const accepted of ["localhost", "other"]) {
    const names: string[] = [];
    const running = await start({
      tls,
      verifyClient({ subject }) {
        names.push(String(subject.CN));
        return subject.CN === accepted;
      },
    });
    let requests = 0;
    running.server.on("request", () => requests++);
    const options = {
      host: "localhost",
      port: running.port,
      ca: client.cert,
      agent: false as const,
      ...client,
    };
    const status = new Promise((resolve) => {
      get(options, (response) => resolve(response.resume().statusCode)).on("error", () => resolve("closed"));
    });
    assert.equal(await status, accepted === "localhost" ? 200 : "closed");
    await running.stop();
    assert.deepEqual([names, requests], [["localhost"], accepted === "localhost" ? 1 : 0]);
  }
});

test("the option log gets errors of a listening server", async () => {
  const messages: string[] = [];
  const running = await start({ log: (message) => messages.push(message) });
  running.server.emit("error", new Error("EMFILE"));
  await running.stop();
  assert.deepEqual(messages, ["cannot accept a connection: EMFILE"]);
});

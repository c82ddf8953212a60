import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { after } from "node:test";
import { answerOf, eventOf } from "../../test/support/function-url.ts";
import type { Program } from "../programs.ts";
import { Environment, type Outcome } from "./environment.ts";

/** Larger requests do not reach a function. */
const MOST_BYTES = 6 * 1024 * 1024;

export interface LambdaProgram extends Program {
  /** All environments that have been started. */
  readonly environments: readonly Environment[];
}

/**
 * A function URL on localhost, for a module that `waymark build` wrote. Starts an environment for each invocation that
 * runs at the same time, as Lambda does. The requests become events, and the results become answers.
 */
export async function serveFunction(
  file: string,
  environment: Readonly<Record<string, string>> = {},
): Promise<LambdaProgram> {
  const environments: Environment[] = [];
  const invoke = async (event: unknown): Promise<Outcome> => {
    const free = environments.find(({ isFree }) => isFree);
    if (free !== undefined) return free.invoke(event);
    const started = await Environment.start(file, environment);
    environments.push(started);
    return started.invoke(event);
  };
  const server = createServer({ requireHostHeader: false }, (request, response) => {
    serve(request, response, invoke).catch(() => response.destroy());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const stop = async () => {
    server.closeAllConnections();
    server.close();
    await Promise.all(environments.map((each) => each.stop()));
    return 0;
  };
  after(stop);
  const { port } = server.address() as AddressInfo;
  const printed = () => environments.map((each) => each.printed()).join("");
  return { url: `http://127.0.0.1:${port}`, port, printed, stop, environments };
}

async function serve(
  request: IncomingMessage,
  response: ServerResponse,
  invoke: (event: unknown) => Promise<Outcome>,
): Promise<void> {
  const pieces: Buffer[] = [];
  let size = 0;
  for await (const piece of request) {
    size += (piece as Buffer).length;
    if (size <= MOST_BYTES) pieces.push(piece as Buffer);
  }
  if (size > MOST_BYTES) return void response.writeHead(413).end('{"Message":"Request Entity Too Large"}');
  const headers: [string, string][] = [];
  const { rawHeaders, method = "GET", url = "/" } = request;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]!.toLowerCase();
    // These concern the connection to the function URL.
    if (!["connection", "transfer-encoding", "content-length", "keep-alive"].includes(name))
      headers.push([name, rawHeaders[at + 1]!]);
  }
  const outcome = await invoke(eventOf({ method, target: url, headers, body: Buffer.concat(pieces) }));
  if (outcome.kind === "failed")
    return void response.writeHead(502).end('{"Message":"Internal Server Error"}');
  if (outcome.kind === "whole") {
    const { status, headers: own, body } = answerOf(outcome.result as never);
    return void response.writeHead(status, own.flat()).end(body);
  }
  const { status, headers: own } = answerOf({ ...(outcome.head as object), body: "" } as never);
  response.writeHead(status, own.flat());
  response.flushHeaders();
  const left = once(response, "close");
  const body = (outcome.body as ReadableStream<Uint8Array>).getReader();
  void left.then(() => body.cancel().catch(() => undefined));
  for (;;) {
    const { done, value } = await body.read();
    if (done) break;
    if (!response.write(value)) await Promise.race([once(response, "drain"), left]);
  }
  response.end();
}

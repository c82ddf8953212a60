import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { scaled } from "../../../../tools/time-scale.ts";
import { COMMANDS, PythonServer, type ServerName } from "./server.ts";

export const ROBUST = join(import.meta.dirname, "..", "fixtures", "python", "robust");

/** Starts a server with the controllers of `fixtures/python/robust`. */
export function start(
  command: ServerName | readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<PythonServer> {
  const words = typeof command === "string" ? COMMANDS[command] : command;
  return new PythonServer(words, ROBUST, { FRAMEWORK_PREFIX: "controllers", ...environment }).ready();
}

export async function json(server: PythonServer, path: string, init: RequestInit = {}): Promise<unknown> {
  const response = await fetch(server.url + path, init);
  if (response.status !== 200) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return response.json();
}

/** Opens a connection and sends this request text. */
export async function sent(server: PythonServer, text: string): Promise<Socket> {
  const socket = connect(server.port, "127.0.0.1");
  await once(socket, "connect");
  socket.write(text.replaceAll("\n", "\r\n"));
  return socket;
}

export async function readAll(socket: Socket): Promise<string> {
  let text = "";
  for await (const piece of socket) text += (piece as Buffer).toString("latin1");
  return text;
}

/** Resolves with a file's content once it matches. */
export async function written(file: string, pattern: RegExp, within = scaled(10_000)): Promise<string> {
  const deadline = Date.now() + within;
  for (;;) {
    const text = existsSync(file) ? readFileSync(file, "utf8") : "";
    if (pattern.test(text)) return text;
    if (Date.now() > deadline) throw new Error(`${file} holds ${JSON.stringify(text)}, not ${pattern}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

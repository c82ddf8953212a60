/** `node:http` with hand-written routing, decoding and validation, and one write per response. */
import { isUtf8 } from "node:buffer";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { isOrder, summary } from "../order.ts";
import { serveForBench } from "./harness.ts";

const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

function send(response: ServerResponse, status: number, value: unknown): ServerResponse {
  const text = JSON.stringify(value);
  response.writeHead(status, {
    "content-type": "application/json; charset=utf-8",
    "content-length": Buffer.byteLength(text),
  });
  return response.end(text);
}

function decode(text: string): string {
  const spaced = text.includes("+") ? text.replaceAll("+", " ") : text;
  return spaced.includes("%") ? decodeURIComponent(spaced) : spaced;
}

function user(path: string, query: string, response: ServerResponse): ServerResponse {
  const segment = decode(path.slice("/users/".length));
  if (!NUMBER.test(segment)) return send(response, 400, { error: "id" });
  let verbose: boolean | undefined;
  let lang: string | undefined;
  for (const pair of query.split("&")) {
    const equals = pair.indexOf("=");
    const name = decode(equals === -1 ? pair : pair.slice(0, equals));
    const value = equals === -1 ? "" : decode(pair.slice(equals + 1));
    if (name === "verbose") {
      if (value !== "true" && value !== "false") return send(response, 400, { error: "verbose" });
      verbose = value === "true";
    } else if (name === "lang") lang = value;
    else return send(response, 400, { error: name });
  }
  if (verbose === undefined || lang === undefined) return send(response, 400, { error: "missing" });
  return send(response, 200, { id: Number(segment), verbose, lang });
}

function order(request: IncomingMessage, response: ServerResponse): void {
  const pieces: Buffer[] = [];
  let size = 0;
  request.on("data", (piece: Buffer) => {
    size += piece.length;
    if (size <= 1024 * 1024) pieces.push(piece);
  });
  request.on("end", (): unknown => {
    if (size > 1024 * 1024) return send(response, 413, { error: "too large" });
    if (request.headers["content-type"] !== "application/json") return send(response, 400, { error: "type" });
    let value: unknown;
    try {
      const bytes = pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces);
      if (!isUtf8(bytes)) return send(response, 400, { error: "UTF-8" });
      value = JSON.parse(bytes.toString());
    } catch {
      return send(response, 400, { error: "JSON" });
    }
    if (!isOrder(value)) return send(response, 400, { error: "order" });
    return send(response, 200, summary(value));
  });
}

const server = createServer((request, response) => {
  const url = request.url!;
  const mark = url.indexOf("?");
  const path = mark === -1 ? url : url.slice(0, mark);
  const { method } = request;
  if (path === "/" && method === "GET") send(response, 200, "Hello, world");
  else if (path.startsWith("/users/") && method === "GET") {
    user(path, mark === -1 ? "" : url.slice(mark + 1), response);
  } else if (path === "/orders" && method === "POST") order(request, response);
  else send(response, 404, { error: "not found" });
});
serveForBench(server);

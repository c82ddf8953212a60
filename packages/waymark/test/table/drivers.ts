import { once } from "node:events";
import { connect } from "node:net";
import type { CaseAnswer, CaseRequest, Driver } from "./case.ts";

type FetchHandler = (request: Request) => Promise<Response>;

/** Sends requests through `application.fetch`. */
export function fetchDriver(fetch: FetchHandler): Driver {
  return async ({ method, target, headers, body, chunked }) => {
    const init: RequestInit & { duplex?: "half" } = { method, headers: headers as [string, string][] };
    if (body !== undefined) {
      init.body = (chunked === undefined ? body : ReadableStream.from(pieces(body, chunked))) as NonNullable<
        RequestInit["body"]
      >;
      init.duplex = "half";
    }
    // The platform's Request must not add a content type.
    const request = new Request(`http://localhost${target}`, init);
    const response = await fetch(request);
    return {
      status: response.status,
      headers: [...response.headers],
      body: new Uint8Array(await response.arrayBuffer()),
    };
  };
}

function* pieces(body: Uint8Array, size: number): Generator<Uint8Array> {
  for (let at = 0; at < body.length; at += size) yield body.subarray(at, at + size);
}

/** Sends requests through a socket, byte for byte. */
export function socketDriver(port: number): Driver {
  return async (request) => {
    const socket = connect(port, "127.0.0.1");
    await once(socket, "connect");
    socket.write(written(request));
    const received: Buffer[] = [];
    for await (const piece of socket) received.push(piece as Buffer);
    return read(Buffer.concat(received), request.method);
  };
}

function written({ method, target, headers, body, chunked }: CaseRequest): Buffer {
  const lines = [`${method} ${target} HTTP/1.1`, "connection: close"];
  if (!headers.some(([name]) => name === "host")) lines.push("host: localhost");
  for (const [name, value] of headers) lines.push(`${name}: ${value}`);
  if (body !== undefined) {
    lines.push(chunked === undefined ? `content-length: ${body.length}` : "transfer-encoding: chunked");
  }
  const head = Buffer.from(`${lines.join("\r\n")}\r\n\r\n`, "latin1");
  if (body === undefined) return head;
  if (chunked === undefined) return Buffer.concat([head, body]);
  const chunks = [...pieces(body, chunked)].flatMap((piece) => [
    Buffer.from(`${piece.length.toString(16)}\r\n`),
    piece,
    Buffer.from("\r\n"),
  ]);
  return Buffer.concat([head, ...chunks, Buffer.from("0\r\n\r\n")]);
}

/** Parses one complete HTTP/1.1 response. */
function read(bytes: Buffer, method: string): CaseAnswer {
  let end = bytes.indexOf("\r\n\r\n");
  let head = bytes.subarray(0, end).toString("latin1");
  while (/^HTTP\/1\.1 1\d\d/.test(head)) {
    const from = end + 4;
    end = bytes.indexOf("\r\n\r\n", from);
    head = bytes.subarray(from, end).toString("latin1");
  }
  const [line, ...rest] = head.split("\r\n");
  const headers = rest.map((each) => {
    const colon = each.indexOf(":");
    return [each.slice(0, colon).toLowerCase(), each.slice(colon + 1).trim()] as const;
  });
  const isChunked = headers.some(([name, value]) => name === "transfer-encoding" && value === "chunked");
  const raw = bytes.subarray(end + 4);
  const body = method === "HEAD" || !isChunked ? raw : unchunk(raw);
  return { status: Number(line!.split(" ")[1]), headers, body };
}

function unchunk(bytes: Buffer): Buffer {
  const chunks: Buffer[] = [];
  let at = 0;
  for (;;) {
    const end = bytes.indexOf("\r\n", at);
    const size = Number.parseInt(bytes.subarray(at, end).toString("latin1"), 16);
    if (!(size > 0)) return Buffer.concat(chunks);
    chunks.push(bytes.subarray(end + 2, end + 2 + size));
    at = end + 2 + size + 2;
  }
}

/** A server that has the HTTP/2 layer and nothing above it. */
import { once } from "node:events";
import { createServer, type Server } from "node:net";
import { encodeHeaders } from "../src/hpack/encoder.ts";
import { ByteCount } from "../src/http2/byte-count.ts";
import { Connection } from "../src/http2/connection.ts";
import type { ConnectionEvents, ServerStream } from "../src/http2/interface.ts";
import { resolveLimits, resolveTimes } from "../src/options.ts";

const text = Buffer.from("Hello, HTTP/2.\n");
const headers = encodeHeaders([
  [":status", "200"],
  ["content-length", String(text.length)],
]);

/** Answers every request with the same text once it has ended. */
const greeting: ConnectionEvents = {
  onReadBegin() {},
  onReadEnd() {},
  onRequest(stream: ServerStream, _head, ended) {
    const answer = () => {
      stream.sendHeaders(headers, false);
      stream.sendLastData(text);
    };
    stream.attach({
      onData(_bytes, _start, _end, isLast) {
        if (isLast) answer();
        else stream.returnWindow();
      },
      onEnd: answer,
      onReset() {},
      onSweep() {},
    });
    if (ended) answer();
  },
};

/** Listens on a free port. */
export async function startHttp2Server(events = greeting): Promise<{ server: Server; port: number }> {
  const deps = {
    limits: resolveLimits(undefined),
    times: resolveTimes(undefined),
    queued: new ByteCount(),
    onFault: (error: unknown) => console.error(error),
    onConnectionError() {},
  };
  const server = createServer((socket) => {
    new Connection(deps, { socket, isTls: false, events, onClosed() {} });
  });
  server.listen({ port: 0, host: "127.0.0.1" });
  await once(server, "listening");
  const bound = server.address();
  return { server, port: bound !== null && typeof bound === "object" ? bound.port : 0 };
}

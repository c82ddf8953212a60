/** The process of `rawLoad`. Reads the load as JSON from standard input and writes the results as JSON. */
import { randomBytes } from "node:crypto";
import { connect, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { encodeHeaders } from "../../packages/grpc-wire/src/hpack/encoder.ts";
import { huffmanEncode, huffmanLength } from "../../packages/grpc-wire/src/hpack/huffman-encoder.ts";
import { KEY_PLACE, type RawLoad } from "./raw-load.ts";

const input = JSON.parse(await text(process.stdin)) as Omit<RawLoad, "message"> & {
  readonly url: string;
  readonly message: string;
};
const { hostname, port, pathname, host } = new URL(input.url);
const { connections, streams, calls, keys = 1, metadata } = input;

const FRAME_HEADER = 9;
const DATA = 0;
const HEADERS = 1;
const SETTINGS = 4;
const PING = 6;
const END_STREAM = 1;
const ACK = 1;
/** Number of different metadata values, far more than servers cache. */
const VARIANTS = 2048;

function frame(type: number, flags: number, payload: Uint8Array): Buffer {
  const header = Buffer.alloc(FRAME_HEADER);
  header.writeUIntBE(payload.length, 0, 3);
  header[3] = type;
  header[4] = flags;
  return Buffer.concat([header, payload]);
}

function integer(flags: number, mask: number, value: number): Buffer {
  if (value < mask) return Buffer.from([flags | value]);
  const bytes = [flags | mask];
  let rest = value - mask;
  for (; rest >= 0x80; rest >>>= 7) bytes.push((rest & 0x7f) | 0x80);
  return Buffer.from([...bytes, rest]);
}

/** Encodes a literal field with a literal name (RFC 7541 section 6.2). */
function metadataField(form: "plain" | "huffman" | "indexed", value: string): Buffer {
  const name = "x-trace-context";
  const head = [Buffer.from([form === "indexed" ? 0x40 : 0x00, name.length]), Buffer.from(name)];
  if (form === "plain") return Buffer.concat([...head, integer(0, 0x7f, value.length), Buffer.from(value)]);
  const coded = Buffer.alloc(huffmanLength(value));
  huffmanEncode(value, coded, 0);
  return Buffer.concat([...head, integer(0x80, 0x7f, coded.length), coded]);
}

const message = Buffer.from(input.message, "base64");
const framed = Buffer.concat([Buffer.alloc(5), message]);
framed.writeUInt32BE(message.length, 1);
const keyAt = framed.indexOf(KEY_PLACE);
const fixed = encodeHeaders([
  [":method", "POST"],
  [":scheme", "http"],
  [":path", pathname],
  [":authority", host],
  ["te", "trailers"],
  ["content-type", "application/grpc"],
]);

/** Calls of HEADERS and DATA. The stream id and the key are filled in for each call. */
const templates = Array.from({ length: metadata === undefined ? 1 : VARIANTS }, () => {
  const value =
    metadata && randomBytes(metadata.characters).toString("base64url").slice(0, metadata.characters);
  const block = value === undefined ? fixed : Buffer.concat([fixed, metadataField(metadata!.form, value)]);
  return Buffer.concat([frame(HEADERS, 4, block), frame(DATA, END_STREAM, framed)]);
});

let begun = 0;
let ended = 0;
const counts = { ok: 0, overLimit: 0, failed: 0 };
const sockets: Socket[] = [];
const finished = Promise.withResolvers<void>();

function open(): Promise<() => void> {
  const socket = connect({ host: hostname, port: Number(port), noDelay: true });
  sockets.push(socket);
  let stream = 1;
  let rest: Buffer = Buffer.alloc(0);
  /** The `overall_code` of each response whose trailers have not arrived. */
  const codes = new Map<number, number>();

  /** Writes up to `count` new calls. */
  const begin = (count: number): void => {
    const batch: Buffer[] = [];
    for (; count > 0 && begun < calls; count--) {
      const template = templates[begun % templates.length]!;
      const call = Buffer.from(template);
      const dataAt = call.length - framed.length - FRAME_HEADER;
      call.writeUInt32BE(stream, 5);
      call.writeUInt32BE(stream, dataAt + 5);
      if (keyAt >= 0)
        call.write(String(begun % keys).padStart(KEY_PLACE.length, "0"), dataAt + FRAME_HEADER + keyAt);
      batch.push(call);
      stream += 2;
      begun++;
    }
    if (batch.length > 0) socket.write(Buffer.concat(batch));
  };

  const answered = (id: number): void => {
    const code = codes.get(id);
    codes.delete(id);
    if (code === 1) counts.ok++;
    else if (code === 2) counts.overLimit++;
    else counts.failed++;
    if (++ended === calls) finished.resolve();
  };

  socket.on("data", (chunk: Buffer) => {
    const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    let at = 0;
    let done = 0;
    while (bytes.length - at >= FRAME_HEADER) {
      const next = at + FRAME_HEADER + bytes.readUIntBE(at, 3);
      if (next > bytes.length) break;
      const flags = bytes[at + 4]!;
      const id = bytes.readUInt32BE(at + 5);
      const type = bytes[at + 3];
      // The first field of a response is its code: 0x08, then one byte.
      if (type === DATA && bytes[at + FRAME_HEADER + 5] === 0x08)
        codes.set(id, bytes[at + FRAME_HEADER + 6]!);
      if ((type === DATA || type === HEADERS) && flags & END_STREAM) {
        answered(id);
        done++;
      }
      if (type === SETTINGS && !(flags & ACK)) socket.write(frame(SETTINGS, ACK, Buffer.alloc(0)));
      if (type === PING && !(flags & ACK))
        socket.write(frame(PING, ACK, bytes.subarray(at + FRAME_HEADER, next)));
      at = next;
    }
    rest = bytes.subarray(at);
    if (done > 0) begin(done);
  });
  socket.on("error", (error) => finished.reject(error));
  socket.on("close", () => {
    if (ended < calls) finished.reject(new Error(`the server closed a connection after ${ended} responses`));
  });
  return new Promise((resolve) => {
    socket.once("connect", () => {
      const window = Buffer.alloc(4);
      window.writeUInt32BE(0x3fff_0000);
      socket.write(
        Buffer.concat([
          Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
          frame(SETTINGS, 0, Buffer.alloc(0)),
          frame(8, 0, window),
        ]),
      );
      resolve(() => begin(streams));
    });
  });
}

finished.promise.catch(() => undefined);
const starts = await Promise.all(Array.from({ length: connections }, open));
const from = performance.now();
for (const start of starts) start();
await finished.promise;
const seconds = (performance.now() - from) / 1000;
for (const socket of sockets) socket.destroy();
process.stdout.write(JSON.stringify({ ...counts, perSecond: calls / seconds }));

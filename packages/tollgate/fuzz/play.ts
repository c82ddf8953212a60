/** Plays a session against a service over a real socket. */
import { once } from "node:events";
import { connect, type NetConnectOpts, type Socket } from "node:net";
import { fromBinary } from "@bufbuild/protobuf";
import { scaled } from "../../../tools/time-scale.ts";
import { frame, RawClient, settings, type, uint32 } from "../../grpc-wire/test/support/raw-client.ts";
import { RateLimitResponseSchema } from "../src/protocol/gen/envoy/service/ratelimit/v3/rls_pb.ts";
import type { ExpectedCall, GrpcSession, HttpSession, Session, Step } from "./session.ts";

/** A valid call that takes longer counts as lost. The limit is generous, because eight sessions run at once. */
const PATIENCE_MS = scaled(10_000);
/** Milliseconds that a client waits for answers that it need not get. */
const ANSWERED_MS = scaled(500);
/** Increment of the window of each open stream, for a valid client. */
const GRANT_BYTES = 5000;

const turn = () => new Promise((resolve) => setImmediate(resolve));

export interface Places {
  readonly grpc: NetConnectOpts;
  readonly http: NetConnectOpts;
}

/** @returns the faults of valid calls; empty if all were answered */
export function play(session: Session, places: Places): Promise<string[]> {
  return session.protocol === "grpc" ? playGrpc(session, places.grpc) : playHttp(session, places.http);
}

async function playGrpc(session: GrpcSession, where: NetConnectOpts): Promise<string[]> {
  const client = await RawClient.open(where, settings([4, session.initialWindow]));
  client.send(frame(type.windowUpdate, 0, 0, uint32(0x7fff0000 - 0xffff)));
  try {
    for (const step of session.steps) {
      if (client.isClosed) break;
      await takeStep(client.socket, step, client);
    }
    const faults: string[] = [];
    const latest = performance.now() + PATIENCE_MS;
    for (const call of session.expected) {
      const fault = await answerFault(client, session.initialWindow, call, latest);
      if (fault !== undefined) faults.push(fault);
    }
    if (session.ending === "answered") await untilAnswered(client, session.steps);
    else for (let turns = 0; turns < 10; turns++) await turn();
    return faults;
  } finally {
    leave(client.socket, session.ending);
  }
}

async function takeStep(socket: Socket, step: Step, client: RawClient): Promise<void> {
  switch (step.kind) {
    case "headers":
      client.send(
        client.headers(
          step.id,
          step.fields.map(([name, value]) => [name, value]),
          step.flags,
        ),
      );
      return;
    case "frame":
      client.send(frame(step.type, step.flags, step.id, step.payload));
      return;
    default:
      return takePlainStep(socket, step);
  }
}

async function takePlainStep(socket: Socket, step: Step): Promise<void> {
  if (step.kind === "bytes") socket.write(step.bytes);
  else if (step.kind === "turns") for (let turns = 0; turns < step.count; turns++) await turn();
  else if (step.kind === "read") {
    if (step.on) socket.resume();
    else socket.pause();
  }
}

/** Waits until every stream of the steps has ended, the connection is closed, or the time has passed. */
async function untilAnswered(client: RawClient, steps: readonly Step[]): Promise<void> {
  const ids = new Set(steps.flatMap((step) => (step.kind === "headers" ? [step.id] : [])));
  const latest = performance.now() + ANSWERED_MS;
  while (!client.isClosed && performance.now() < latest && [...ids].some((id) => !hasEnded(client, id)))
    await new Promise((resolve) => setTimeout(resolve, 5));
}

function hasEnded(client: RawClient, id: number): boolean {
  return client.frames.some(
    (each) => each.id === id && (each.type === type.reset || (each.type <= 1 && (each.flags & 1) === 1)),
  );
}

/** Waits for a response, with small window updates. @returns its faults */
async function answerFault(
  client: RawClient,
  initialWindow: number,
  { id, statuses }: ExpectedCall,
  latest: number,
): Promise<string | undefined> {
  let window = initialWindow;
  let granted = 0;
  while (!hasEnded(client, id)) {
    if (client.isClosed) return `call ${id}: the connection was closed: ${lastWords(client)}`;
    if (performance.now() > latest) return `call ${id}: no answer within ${PATIENCE_MS} ms`;
    // The service charges an update of a stream that still has window as a frame without work.
    if (client.answerBytes(id) >= window && granted < 1000) {
      client.send(frame(type.windowUpdate, 0, id, uint32(GRANT_BYTES)));
      window += GRANT_BYTES;
      granted++;
    }
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  const { fields, messages, reset } = client.answerSoFar(id);
  if (reset !== undefined) return `call ${id}: reset with code ${reset}`;
  if (fields.get("grpc-status") !== "0")
    return `call ${id}: status ${fields.get("grpc-status")}: ${fields.get("grpc-message")}`;
  const found = messages.map((bytes) => fromBinary(RateLimitResponseSchema, bytes).statuses.length);
  return found.length === 1 && found[0] === statuses
    ? undefined
    : `call ${id}: ${JSON.stringify(found)} statuses in its messages, not [${statuses}]`;
}

function lastWords(client: RawClient): string {
  const goaway = client.frames.findLast((each) => each.type === type.goaway);
  if (goaway === undefined) return "without GOAWAY";
  return `GOAWAY with code ${goaway.payload.readUInt32BE(4)}, ${goaway.payload.toString("utf8", 8)}`;
}

async function playHttp(session: HttpSession, where: NetConnectOpts): Promise<string[]> {
  const socket = connect(where);
  let text = "";
  let closed = false;
  socket.on("error", () => {});
  socket.on("close", () => {
    closed = true;
  });
  socket.on("data", (chunk: Buffer) => {
    text += chunk.toString("latin1");
  });
  try {
    await once(socket, "connect");
    for (const step of session.steps) if (!closed) await takePlainStep(socket, step);
    const statuses = () => [...text.matchAll(/HTTP\/1\.1 \d{3} [^\r]*/g)].map(([line]) => line);
    const latest = performance.now() + PATIENCE_MS;
    while (statuses().length < session.expected.length && !closed && performance.now() < latest)
      await new Promise((resolve) => setTimeout(resolve, 1));
    if (session.ending === "answered" && session.expected.length === 0) {
      const enough = performance.now() + ANSWERED_MS;
      while (!closed && text === "" && performance.now() < enough)
        await new Promise((resolve) => setTimeout(resolve, 5));
    }
    const found = statuses();
    return session.expected.flatMap((wanted, index) =>
      wanted.test(`${found[index]} `) ? [] : [`request ${index}: ${found[index] ?? "no answer"}`],
    );
  } finally {
    leave(socket, session.ending);
  }
}

function leave(socket: Socket, ending: Session["ending"]): void {
  if (ending === "reset" && !socket.writableEnded && !socket.destroyed) socket.resetAndDestroy();
  else if (ending === "half-close" && !socket.destroyed) {
    socket.resume();
    socket.end();
    // If the server keeps its side open, this client does not wait longer.
    setTimeout(() => socket.destroy(), 100);
  } else socket.destroy();
}

/** Plays a session against a service over a real socket. */
import { once } from "node:events";
import { connect, type NetConnectOpts, type Socket } from "node:net";
import { fromBinary } from "@bufbuild/protobuf";
import { scaled } from "../../../tools/time-scale.ts";
import { frame, RawClient, settings, type, uint32 } from "../../grpc-wire/test/support/raw-client.ts";
import { RateLimitResponseSchema } from "../src/protocol/gen/envoy/service/ratelimit/v3/rls_pb.ts";
import type { GrpcSession, HttpSession, LawfulCall, Session, Step } from "./session.ts";

/** How long a lawful call may take before it counts as lost; generous, since eight sessions run side by side. */
const PATIENCE_MS = scaled(10_000);
/** How long a client that need not be answered waits all the same. */
const ANSWERED_MS = scaled(500);
/** Window that a lawful client gives each open stream at a time. */
const GRANT_BYTES = 5000;

const turn = () => new Promise((resolve) => setImmediate(resolve));

export interface Places {
  readonly grpc: NetConnectOpts;
  readonly http: NetConnectOpts;
}

/** @returns what a lawful call met instead of its answer; empty where all is well */
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
    for (const call of session.lawful) {
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

/** Waits until every stream that the steps opened has ended, the connection is closed, or the time is over. */
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

/** Waits for an answer, giving window bit by bit. @returns what is wrong with it */
async function answerFault(
  client: RawClient,
  initialWindow: number,
  { id, statuses }: LawfulCall,
  latest: number,
): Promise<string | undefined> {
  let window = initialWindow;
  let granted = 0;
  while (!hasEnded(client, id)) {
    if (client.isClosed) return `call ${id}: the connection was closed: ${lastWords(client)}`;
    if (performance.now() > latest) return `call ${id}: no answer within ${PATIENCE_MS} ms`;
    // A stream that was granted all it used waits for no more: each update then would be a frame without work.
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
    while (statuses().length < session.lawful.length && !closed && performance.now() < latest)
      await new Promise((resolve) => setTimeout(resolve, 1));
    if (session.ending === "answered" && session.lawful.length === 0) {
      const enough = performance.now() + ANSWERED_MS;
      while (!closed && text === "" && performance.now() < enough)
        await new Promise((resolve) => setTimeout(resolve, 5));
    }
    const found = statuses();
    return session.lawful.flatMap((wanted, index) =>
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
    // A server that keeps its side open gets no more time from this client.
    setTimeout(() => socket.destroy(), 100);
  } else socket.destroy();
}

import { copyOf } from "../frames/copy.ts";
import type { ServerStream } from "../http2/interface.ts";
import { GrpcError, Status } from "../status.ts";
import type { BidiStreamingHandler, ServerStreamingHandler, StreamingCall } from "../types.ts";
import { ServerCall } from "./call.ts";
import type { CallHead } from "./call-head.ts";
import type { CallContext } from "./context.ts";
import { isAsyncIterable, isThenable } from "./handler-results.ts";
import type { Route } from "./route.ts";
import { SingleMessageCall } from "./single-message-call.ts";

/** Runs a streaming handler, and writes the messages that it yields. */
async function deliver(call: StreamingCall, start: () => unknown): Promise<void> {
  const result = start();
  if (isAsyncIterable(result)) for await (const message of result) await call.write(message);
  else if (isThenable(result)) await result;
  else throw new TypeError("a streaming handler must return an async iterable or a promise");
}

/** A call with one request message and any number of response messages. */
export class ServerStreamingCall extends SingleMessageCall implements StreamingCall {
  readonly #handler: ServerStreamingHandler;

  constructor(
    stream: ServerStream,
    head: CallHead,
    context: CallContext,
    { handler }: Extract<Route, { kind: "serverStreaming" }>,
  ) {
    super(stream, head, context);
    this.#handler = handler;
  }

  protected onMessage(bytes: Uint8Array, start: number, end: number, isOwn: boolean): void {
    this.markPending();
    const message = isOwn ? bytes : copyOf(bytes, start, end);
    this.holdSlot(
      () => deliver(this, () => this.#handler(message, this)),
      () => {
        if (!this.isFinished) this.finishWithStatus(Status.OK, "");
      },
    );
  }

  write(message: Uint8Array): Promise<void> {
    return this.writeMessage(message);
  }
}

/** A call with any number of request and response messages. */
export class BidiStreamingCall extends ServerCall implements StreamingCall {
  readonly #handler: BidiStreamingHandler;

  constructor(
    stream: ServerStream,
    head: CallHead,
    context: CallContext,
    { handler }: Extract<Route, { kind: "bidiStreaming" }>,
  ) {
    super(stream, head, context);
    this.#handler = handler;
  }

  /** Runs the handler, before any message has arrived. */
  start(): void {
    const inbound = this.openInbound();
    this.markPending();
    this.holdSlot(
      () => deliver(this, () => this.#handler(inbound, this)),
      () => {
        if (!this.isFinished) this.finishWithStatus(Status.OK, "");
      },
    );
  }

  onData(bytes: Buffer, start: number, end: number, ended: boolean): void {
    if (this.isFinished) return;
    const inbound = this.openInbound();
    const fault = inbound.take(bytes, start, end);
    if (fault !== undefined) this.failRequest(fault);
    else if (ended) this.onEnd();
    else if (inbound.count === 0) this.stream.returnWindow();
  }

  onEnd(): void {
    if (this.isFinished) return;
    const inbound = this.openInbound();
    if (inbound.isMidMessage)
      this.failRequest(new GrpcError(Status.INTERNAL, "the request ended within a message"));
    else inbound.end();
  }

  /** Messages may arrive at any time, so there is no time-out. */
  override onSweep(): void {}

  write(message: Uint8Array): Promise<void> {
    return this.writeMessage(message);
  }
}

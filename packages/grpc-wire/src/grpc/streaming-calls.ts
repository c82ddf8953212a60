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

/** Yields or writes the messages of a streamed answer. */
async function deliver(call: StreamingCall, start: () => unknown): Promise<void> {
  const result = start();
  if (isAsyncIterable(result)) for await (const message of result) await call.write(message);
  else if (isThenable(result)) await result;
  else throw new TypeError("a streaming handler must return an async iterable or a promise");
}

/** One request message, any number of answers. */
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

/** Any number of messages both ways. */
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

  /** Runs the handler: before any message has come. */
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

  /** Its messages may come at any time. */
  override onSweep(): void {}

  write(message: Uint8Array): Promise<void> {
    return this.writeMessage(message);
  }
}

import { readUint32 } from "../frames/write.ts";
import { GrpcError, Status } from "../status.ts";
import { PREFIX_BYTES, ServerCall } from "./call.ts";
import { inflated, type ReceivedMessage } from "./inbound.ts";
import { OversizedMessage } from "./oversized.ts";

/** A call with exactly one request message. */
export abstract class SingleMessageCall extends ServerCall {
  /**
   * Handles the request message, `bytes[start, end)`.
   * @param isOwn whether the bytes belong to the call; otherwise they are valid during this method only
   */
  protected abstract onMessage(bytes: Uint8Array, start: number, end: number, isOwn: boolean): void;

  onData(bytes: Buffer, start: number, end: number, ended: boolean): void {
    if (this.isFinished) return;
    if (
      ended &&
      this.inbound === undefined &&
      end - start >= PREFIX_BYTES &&
      bytes[start] === 0 &&
      readUint32(bytes, start + 1) === end - start - PREFIX_BYTES
    ) {
      // This frame contains the whole message.
      this.invoke(bytes, start + PREFIX_BYTES, end, false);
      return;
    }
    const fault = end > start ? this.take(bytes, start, end) : undefined;
    if (fault !== undefined) this.failRequest(fault);
    else if (ended) this.onEnd();
    else if (this.inbound === undefined || this.inbound.count === 0) this.stream.returnWindow();
  }

  onEnd(): void {
    if (this.isFinished) return;
    const { inbound } = this;
    if (inbound?.isMidMessage) {
      this.failRequest(new GrpcError(Status.INTERNAL, "the request ended within a message"));
      return;
    }
    const message = inbound?.shift();
    inbound?.release();
    if (message === undefined)
      this.failRequest(new GrpcError(Status.UNIMPLEMENTED, "the request has no message"));
    else if (message.compressed) this.inflate(message);
    else this.invoke(message.bytes, 0, message.bytes.length, true);
  }

  private take(bytes: Buffer, start: number, end: number): GrpcError | undefined {
    const inbound = this.openInbound();
    const fault = inbound.take(bytes, start, end);
    if (fault !== undefined || inbound.count < 2) return fault;
    return new GrpcError(Status.UNIMPLEMENTED, "more than one request message");
  }

  private inflate(message: ReceivedMessage): void {
    const { stream, context, head } = this;
    try {
      const plain = inflated(message, { stream, context, head, state: this });
      if (plain instanceof Uint8Array) {
        this.invoke(plain, 0, plain.length, true);
        return;
      }
      this.markPending();
      plain.then(
        (bytes) => {
          if (!this.isFinished) this.invoke(bytes, 0, bytes.length, true);
        },
        (error) => this.fail(error),
      );
    } catch (error) {
      this.fail(error);
    }
  }

  private invoke(bytes: Uint8Array, start: number, end: number, isOwn: boolean): void {
    const { maxRequestBytes } = this.context.deps;
    if (end - start > maxRequestBytes)
      this.finishWithError(new OversizedMessage(`the message exceeds ${maxRequestBytes} bytes`));
    else if (!this.isPending && this.isLate(this.stream.connection.clock.now))
      this.finishWithStatus(Status.DEADLINE_EXCEEDED, "the deadline has passed");
    else if (!this.refuseAnswer()) this.onMessage(bytes, start, end, isOwn);
  }
}

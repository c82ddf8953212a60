import type { ConnectionEvents, ServerStream } from "../http2/interface.ts";
import type { RequestHead } from "../http2/request-head.ts";
import { GrpcError, Status } from "../status.ts";
import { BufferedBytes } from "./buffered-bytes.ts";
import { ServerCall } from "./call.ts";
import { type CallHead, callHeadOf, Encoding } from "./call-head.ts";
import type { CallContext, GrpcDependencies } from "./context.ts";
import { EndedCalls } from "./ended-calls.ts";
import { HttpRefusal } from "./http-refusal.ts";
import type { Route } from "./route.ts";
import { BidiStreamingCall, ServerStreamingCall } from "./streaming-calls.ts";
import { UnaryServerCall } from "./unary-call.ts";

/** Creates the gRPC calls of one connection from its requests. */
export class ConnectionCalls implements ConnectionEvents, CallContext {
  readonly deps: GrpcDependencies;
  readonly buffered: BufferedBytes;
  readonly ended: EndedCalls | undefined;

  constructor(deps: GrpcDependencies) {
    this.deps = deps;
    this.buffered = new BufferedBytes(deps, deps.buffered);
    const { observer, clock } = deps;
    if (observer?.callFinished !== undefined)
      this.ended = new EndedCalls({
        callFinished: (...ended) => observer.callFinished!(...ended),
        clock,
        onFault: (error, path) => deps.onHandlerError?.(error, path),
      });
  }

  onReadBegin(): void {
    this.ended?.beginRead();
  }

  onReadEnd(): void {
    this.ended?.endRead();
  }

  onRequest(stream: ServerStream, request: RequestHead, ended: boolean): void {
    const { deps } = this;
    const head = callHeadOf(request, deps);
    if (!head.isCall) {
      const refusal = new HttpRefusal(stream, request, deps.requestTimeoutMs);
      if (ended) refusal.onEnd();
      return;
    }
    const { route } = head;
    if (route === undefined) {
      new RefusedCall(stream, head, this).refuse(unknownMethod(request.path));
      return;
    }
    if (deps.observer?.callStarted !== undefined) this.#observeStart(route.path);
    const refusal = refusalOf(request, head, deps);
    if (refusal !== undefined) new RefusedCall(stream, head, this).refuse(refusal);
    else this.#start(stream, head, route, ended);
  }

  #start(stream: ServerStream, head: CallHead, route: Route, ended: boolean): void {
    switch (route.kind) {
      case "unary": {
        const call = new UnaryServerCall(stream, head, this, route);
        if (ended) call.onEnd();
        break;
      }
      case "serverStreaming": {
        const call = new ServerStreamingCall(stream, head, this, route);
        if (ended) call.onEnd();
        break;
      }
      case "bidiStreaming": {
        const call = new BidiStreamingCall(stream, head, this, route);
        if (ended) call.onEnd();
        call.start();
        break;
      }
    }
  }

  #observeStart(path: string): void {
    try {
      this.deps.observer!.callStarted!(path);
    } catch (error) {
      this.deps.onHandlerError?.(error, path);
    }
  }
}

/** A call that fails before the server reads its message. */
class RefusedCall extends ServerCall {
  refuse({ code, message }: GrpcError): void {
    this.finishWithStatus(code, message);
  }

  onData(): void {}

  onEnd(): void {}
}

function unknownMethod(path: string): GrpcError {
  return new GrpcError(Status.UNIMPLEMENTED, `unknown method ${path.slice(0, 256)}`);
}

/** Returns the error of a call that fails before the server reads its message, or undefined. */
function refusalOf(
  { isTooLarge }: RequestHead,
  { timeoutMs, encoding }: CallHead,
  { maxHeaderListBytes }: GrpcDependencies,
): GrpcError | undefined {
  if (isTooLarge)
    return new GrpcError(
      Status.RESOURCE_EXHAUSTED,
      `the request's headers exceed ${maxHeaderListBytes} bytes`,
    );
  if (timeoutMs === -2) return new GrpcError(Status.INTERNAL, "grpc-timeout is malformed");
  if (encoding === Encoding.UNSUPPORTED)
    return new GrpcError(Status.UNIMPLEMENTED, "grpc-encoding: only identity and gzip are supported");
  return undefined;
}

import { Buffer } from "node:buffer";
import { endedEarly, GatewayIncoming } from "../gateway/gateway-incoming.ts";
import { targetOf } from "../gateway/path.ts";
import type { AsgiHttpScope, AsgiReceive, AsgiReceived } from "./asgi-types.ts";

/** An ASGI `http` scope for the core. Requests one event at a time from the server and holds at most one piece. */
export class AsgiIncoming extends GatewayIncoming {
  readonly method: string;
  readonly target: string;
  readonly scheme: string;
  readonly remoteAddress: string | undefined;
  readonly hasBody: boolean;
  readonly requiresHost: boolean;
  readonly #headers: readonly (readonly [string, string])[];
  readonly #receive: AsgiReceive;
  #asked: Promise<void> | undefined = undefined;
  #piece: Uint8Array | undefined = undefined;
  #ended = false;
  #watching = false;
  #onLeave: (() => void) | undefined = undefined;

  constructor(scope: AsgiHttpScope, receive: AsgiReceive) {
    super();
    this.method = scope.method;
    this.scheme = scope.scheme ?? "http";
    this.remoteAddress = scope.client?.[0];
    this.target = targetOf({
      path: scope.path,
      raw: scope.raw_path ? latin1(scope.raw_path) : undefined,
      root: scope.root_path ?? "",
      query: scope.query_string ? latin1(scope.query_string) : "",
      encoding: "utf8",
    });
    this.#headers = Array.from(scope.headers, ([name, value]) => [latin1(name), latin1(value)] as const);
    this.#receive = receive;
    this.requiresHost = scope.http_version === "1.1";
    const length = this.header("content-length");
    // HTTP/2 and later versions do not have to announce a body.
    this.hasBody =
      length === undefined
        ? this.header("transfer-encoding") !== undefined || !scope.http_version.startsWith("1")
        : length !== "0";
  }

  headers(): ReadonlyArray<readonly [string, string]> {
    return this.#headers;
  }

  override leave(): void {
    if (this.gone) return;
    super.leave();
    this.#onLeave?.();
  }

  /** Detects that the client leaves while nothing reads the body. */
  watch(onLeave: () => void): void {
    this.#watching = true;
    this.#onLeave = onLeave;
    this.#look();
  }

  /** The answer is complete or abandoned: requests no further event. */
  release(): void {
    this.#watching = false;
    this.#onLeave = undefined;
  }

  protected override async next(): Promise<Uint8Array | undefined> {
    for (;;) {
      const piece = this.#piece;
      this.#piece = undefined;
      if (piece !== undefined && piece.length > 0) {
        this.#look();
        return piece;
      }
      if (this.#ended) return undefined;
      if (this.gone) throw endedEarly();
      await this.#ask();
    }
  }

  #look(): void {
    if (!this.#watching || this.gone || this.#piece !== undefined || this.#asked !== undefined) return;
    void this.#ask().then(() => this.#look());
  }

  #ask(): Promise<void> {
    // A failed `receive` means that the client has gone away.
    this.#asked ??= this.#receive().then(
      (event) => this.#take(event),
      () => this.#take({ type: "http.disconnect" }),
    );
    return this.#asked;
  }

  #take(event: AsgiReceived): void {
    this.#asked = undefined;
    if (event.type === "http.request") {
      if (event.more_body !== true) this.#ended = true;
      if (event.body !== undefined && event.body.length > 0) this.#piece = event.body;
    } else this.leave();
  }
}

function latin1(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("latin1");
}

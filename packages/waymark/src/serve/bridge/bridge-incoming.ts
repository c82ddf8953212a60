import type { Buffer } from "node:buffer";
import { endedEarly, GatewayIncoming, tooLarge } from "../gateway/gateway-incoming.ts";
import { targetOf } from "../gateway/path.ts";
import { HAS_RAW, HOLDS_BACK, HTTP_1_1, LAST, LATIN1_PATH, UNASKED, WINDOW } from "./frames.ts";

const FIXED_BYTES = 21;

/** A request from the bridge. Its body is requested as it is read, and waits in a bounded queue. */
export class BridgeIncoming extends GatewayIncoming {
  readonly method: string;
  readonly target: string;
  readonly scheme: string;
  readonly remoteAddress: string | undefined;
  readonly hasBody: boolean;
  readonly requiresHost: boolean;
  /** Method, scheme and client address, then the headers, flat. */
  readonly #head: readonly string[];
  readonly #want: (size: number) => void;
  #pieces: Uint8Array[] = [];
  #queued = 0;
  /** Bytes that Python may still send. */
  #asked: number;
  #ended: boolean;
  #wake: (() => void) | undefined = undefined;

  /** Parses the payload of a REQUEST frame. */
  constructor(payload: Buffer, want: (size: number) => void) {
    super();
    const flags = payload[0]!;
    const lengths = [1, 5, 9, 13, 17].map((at) => payload.readUInt32BE(at));
    let at = FIXED_BYTES;
    const text = (length: number, encoding: "latin1" | "utf8") => {
      const from = at;
      at += length;
      if (at > payload.length) throw new RangeError("a REQUEST frame is shorter than its parts");
      return payload.toString(encoding, from, at);
    };
    const encoding = (flags & LATIN1_PATH) === 0 ? "utf8" : "latin1";
    this.#head = text(lengths[0]!, "latin1").split("\0");
    const root = text(lengths[1]!, encoding);
    const path = text(lengths[2]!, encoding);
    const raw = text(lengths[3]!, "latin1");
    const query = text(lengths[4]!, "latin1");
    this.method = this.#head[0]!;
    this.scheme = this.#head[1]!;
    this.remoteAddress = this.#head[2] || undefined;
    this.target = targetOf({ path, raw: (flags & HAS_RAW) === 0 ? undefined : raw, root, query, encoding });
    this.#ended = (flags & LAST) !== 0;
    this.#asked = (flags & HOLDS_BACK) === 0 ? UNASKED : 0;
    this.requiresHost = (flags & HTTP_1_1) !== 0;
    this.#want = want;
    const start = payload.subarray(at);
    this.hasBody = !this.#ended || start.length > 0;
    if (start.length > 0) this.#queue(start);
  }

  override header(name: string): string | undefined {
    const head = this.#head;
    let found: string | undefined;
    for (let at = 3; at < head.length; at += 2) {
      if (head[at] !== name) continue;
      const value = head[at + 1]!;
      found = found === undefined ? value : `${found}${name === "cookie" ? "; " : ", "}${value}`;
    }
    return found;
  }

  headers(): [string, string][] {
    const pairs: [string, string][] = [];
    for (let at = 3; at < this.#head.length; at += 2) pairs.push([this.#head[at]!, this.#head[at + 1]!]);
    return pairs;
  }

  /** Handles a BODY frame. */
  take(piece: Uint8Array, last: boolean): void {
    if (piece.length > 0) this.#queue(piece);
    if (last) this.#ended = true;
    this.#wake?.();
  }

  override leave(): void {
    super.leave();
    this.#wake?.();
  }

  /** A short body usually arrives completely with its request. */
  override read(limit: number): Promise<Uint8Array> {
    if (!this.#ended || this.#pieces.length !== 1) return super.read(limit);
    const [whole] = this.#pieces as [Uint8Array];
    if (whole.length > limit) return Promise.reject(tooLarge(limit));
    this.#pieces = [];
    return Promise.resolve(whole);
  }

  protected override async next(): Promise<Uint8Array | undefined> {
    for (;;) {
      const piece = this.#pieces.shift();
      if (piece !== undefined) {
        this.#queued -= piece.length;
        return piece;
      }
      if (this.#ended) return undefined;
      if (this.gone) throw endedEarly();
      this.#ask();
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  #queue(piece: Uint8Array): void {
    this.#pieces.push(piece);
    this.#queued += piece.length;
    this.#asked -= piece.length;
  }

  #ask(): void {
    const onTheWay = Math.max(this.#asked, 0) + this.#queued;
    if (onTheWay > WINDOW / 2) return;
    this.#asked += WINDOW - onTheWay;
    this.#want(WINDOW - onTheWay);
  }
}

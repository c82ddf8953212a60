/** One client of a storm, as data: what it sends, how it reads, how it leaves. */

export type Fields = readonly (readonly [name: string, value: string])[];

export type Step =
  /** HEADERS through this client's HPACK encoder. */
  | {
      readonly kind: "headers";
      readonly id: number;
      readonly flags: number;
      readonly fields: Fields;
    }
  | {
      readonly kind: "frame";
      readonly type: number;
      readonly flags: number;
      readonly id: number;
      readonly payload: Uint8Array;
    }
  /** Bytes as they are: broken frames, HTTP/1.1. */
  | { readonly kind: "bytes"; readonly bytes: Uint8Array }
  /** Lets other clients go on; so many turns of the event loop. */
  | { readonly kind: "turns"; readonly count: number }
  | { readonly kind: "read"; readonly on: boolean };

/** How a client leaves; `answered` waits for a while until every stream that it opened has ended. */
export type Ending = "close" | "reset" | "half-close" | "answered";

/** A call that must be answered with status 0, and how many statuses the answer has. */
export interface LawfulCall {
  readonly id: number;
  readonly statuses: number;
}

export interface GrpcSession {
  readonly protocol: "grpc";
  /** SETTINGS_INITIAL_WINDOW_SIZE for the answers. */
  readonly initialWindow: number;
  readonly steps: readonly Step[];
  /** Calls that must succeed. Empty: whatever happens to this client is its own fault. */
  readonly lawful: readonly LawfulCall[];
  readonly ending: Ending;
}

export interface HttpSession {
  readonly protocol: "http";
  readonly steps: readonly Step[];
  /** Status lines that must come, in order, of requests within the limits. */
  readonly lawful: readonly RegExp[];
  readonly ending: Ending;
}

export type Session = GrpcSession | HttpSession;

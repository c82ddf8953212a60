/** One client of a storm, as data: its steps, its windows, and how it ends its connection. */

export type Fields = readonly (readonly [name: string, value: string])[];

export type Step =
  /** HEADERS, encoded by this client's HPACK encoder. */
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
  /** Raw bytes: broken frames, HTTP/1.1. */
  | { readonly kind: "bytes"; readonly bytes: Uint8Array }
  /** Waits for this many turns of the event loop, so that other clients run. */
  | { readonly kind: "turns"; readonly count: number }
  | { readonly kind: "read"; readonly on: boolean };

/** A client's way to end its connection. `answered` first waits, for a limited time, until its streams have ended. */
export type Ending = "close" | "reset" | "half-close" | "answered";

/** A call that must be answered with status 0, and the number of statuses in the response. */
export interface ExpectedCall {
  readonly id: number;
  readonly statuses: number;
}

export interface GrpcSession {
  readonly protocol: "grpc";
  /** SETTINGS_INITIAL_WINDOW_SIZE for the responses. */
  readonly initialWindow: number;
  readonly steps: readonly Step[];
  /** Calls that must succeed. If empty, the service may end this client's connection. */
  readonly expected: readonly ExpectedCall[];
  readonly ending: Ending;
}

export interface HttpSession {
  readonly protocol: "http";
  readonly steps: readonly Step[];
  /** The expected status lines of requests within the limits, in order. */
  readonly expected: readonly RegExp[];
  readonly ending: Ending;
}

export type Session = GrpcSession | HttpSession;

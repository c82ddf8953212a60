/** The types of ASGI 3 (asgi.readthedocs.io), under their names there. `bytes` is `Uint8Array`, `None` is null. */
export type AsgiApplication = (scope: AsgiScope, receive: AsgiReceive, send: AsgiSend) => Promise<void>;
export type AsgiReceive = () => Promise<AsgiReceived>;
export type AsgiSend = (event: AsgiSent) => Promise<void>;
export type AsgiScope = AsgiHttpScope | AsgiWebSocketScope | AsgiLifespanScope;

interface AsgiVersions {
  readonly version: string;
  readonly spec_version?: string;
}

export interface AsgiHttpScope {
  readonly type: "http";
  readonly asgi: AsgiVersions;
  /** "1.0", "1.1", "2", "3". */
  readonly http_version: string;
  /** The method in upper case. */
  readonly method: string;
  /** Default "http". */
  readonly scheme?: string;
  /** Percent-decoded as UTF-8, without the query, with `root_path`. */
  readonly path: string;
  readonly raw_path?: Uint8Array | null;
  /** Percent-encoded, without its `?`. */
  readonly query_string?: Uint8Array;
  /** Default "". */
  readonly root_path?: string;
  /** Names in lower case, in the order of the request. */
  readonly headers: Iterable<readonly [Uint8Array, Uint8Array]>;
  readonly client?: readonly [string, number] | null;
  readonly server?: readonly [string, number | null] | null;
  readonly state?: Record<string, unknown>;
  readonly extensions?: Readonly<Record<string, unknown>> | null;
}

export interface AsgiWebSocketScope {
  readonly type: "websocket";
  readonly asgi: AsgiVersions;
}

export interface AsgiLifespanScope {
  readonly type: "lifespan";
  readonly asgi: AsgiVersions;
  readonly state?: Record<string, unknown>;
}

export type AsgiReceived =
  | { readonly type: "http.request"; readonly body?: Uint8Array; readonly more_body?: boolean }
  | { readonly type: "http.disconnect" }
  | { readonly type: "lifespan.startup" }
  | { readonly type: "lifespan.shutdown" }
  | { readonly type: "websocket.connect" };

export type AsgiSent =
  | {
      readonly type: "http.response.start";
      readonly status: number;
      readonly headers: ReadonlyArray<readonly [Uint8Array, Uint8Array]>;
    }
  | { readonly type: "http.response.body"; readonly body: Uint8Array; readonly more_body: boolean }
  | { readonly type: "lifespan.startup.complete" }
  | { readonly type: "lifespan.startup.failed"; readonly message: string }
  | { readonly type: "lifespan.shutdown.complete" }
  | { readonly type: "lifespan.shutdown.failed"; readonly message: string }
  | { readonly type: "websocket.close"; readonly code: number; readonly reason: string };

import { endedEarly, GatewayIncoming } from "../gateway/gateway-incoming.ts";
import { targetOf } from "../gateway/path.ts";
import type { WsgiEnviron, WsgiInput } from "./wsgi-types.ts";

const PIECE_BYTES = 64 * 1024;

/** A WSGI `environ` for the core. */
export class WsgiIncoming extends GatewayIncoming {
  readonly method: string;
  readonly target: string;
  readonly scheme: string;
  readonly remoteAddress: string | undefined;
  readonly hasBody: boolean;
  readonly requiresHost: boolean;
  readonly #environ: WsgiEnviron;
  readonly #input: WsgiInput;
  /** Remaining bytes of the body. Undefined if only the end of the input marks its end. */
  #left: number | undefined;
  #headers: readonly (readonly [string, string])[] | undefined = undefined;

  constructor(environ: WsgiEnviron) {
    super();
    this.#environ = environ;
    this.#input = environ["wsgi.input"];
    this.method = environ.REQUEST_METHOD;
    this.scheme = environ["wsgi.url_scheme"];
    this.remoteAddress = environ.REMOTE_ADDR || undefined;
    this.requiresHost = environ.SERVER_PROTOCOL === "HTTP/1.1";
    this.target = targetOf({
      path: environ.PATH_INFO ?? "",
      raw: environ.REQUEST_URI ?? environ.RAW_URI,
      root: environ.SCRIPT_NAME ?? "",
      query: environ.QUERY_STRING ?? "",
      encoding: "latin1",
    });
    const length = environ.CONTENT_LENGTH;
    if (length !== undefined && length !== "") this.#left = Number(length);
    else this.#left = environ["wsgi.input_terminated"] === true ? undefined : 0;
    this.hasBody = this.#left === undefined ? environ.HTTP_TRANSFER_ENCODING !== undefined : this.#left !== 0;
  }

  override header(name: string): string | undefined {
    const value = this.#environ[variableOf(name)];
    // CONTENT_TYPE and CONTENT_LENGTH may be present and empty.
    return typeof value === "string" && (value !== "" || !name.startsWith("content-")) ? value : undefined;
  }

  headers(): ReadonlyArray<readonly [string, string]> {
    this.#headers ??= headersOf(this.#environ);
    return this.#headers;
  }

  protected override async next(): Promise<Uint8Array | undefined> {
    if (this.#left === 0) return undefined;
    const asked = Math.min(PIECE_BYTES, this.#left ?? PIECE_BYTES);
    const piece = await this.#input.read(asked).catch(() => {
      throw endedEarly();
    });
    if (piece.length > 0) {
      if (this.#left !== undefined) this.#left -= piece.length;
      return piece;
    }
    if (this.#left !== undefined) throw endedEarly();
    this.#left = 0;
    return undefined;
  }
}

function variableOf(name: string): string {
  if (name === "content-type") return "CONTENT_TYPE";
  if (name === "content-length") return "CONTENT_LENGTH";
  return `HTTP_${name.toUpperCase().replaceAll("-", "_")}`;
}

function headersOf(environ: WsgiEnviron): [string, string][] {
  const headers: [string, string][] = [];
  for (const [name, value] of Object.entries(environ)) {
    if (typeof value !== "string") continue;
    if (name.startsWith("HTTP_")) headers.push([headerOfVariable(name.slice(5)), value]);
    else if ((name === "CONTENT_TYPE" || name === "CONTENT_LENGTH") && value !== "")
      headers.push([headerOfVariable(name), value]);
  }
  return headers;
}

function headerOfVariable(name: string): string {
  return name.toLowerCase().replaceAll("_", "-");
}

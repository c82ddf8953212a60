import { Buffer } from "node:buffer";
import { isIP } from "node:net";
import { GatewayIncoming, tooLarge } from "../gateway/gateway-incoming.ts";
import { checkEvent, headersOf, isV2, type LambdaEvent } from "./event.ts";
import { eventTarget } from "./event-target.ts";

/** The request of an event for the core. */
export class LambdaIncoming extends GatewayIncoming {
  readonly method: string;
  readonly target: string;
  readonly scheme: string;
  readonly remoteAddress: string | undefined;
  readonly hasBody: boolean;
  /** The health check of a load balancer has none. */
  readonly requiresHost = false;
  readonly #headers: readonly (readonly [string, string])[];
  #body: Uint8Array | undefined;

  /** Throws a `TypeError` for an event that is not a request. */
  constructor(event: LambdaEvent) {
    super();
    checkEvent(event);
    const { domainName } = event.requestContext;
    const headers = headersOf(event).filter(([name, value]) => name !== "host" || value !== "");
    if (domainName !== undefined && !headers.some(([name]) => name === "host"))
      headers.push(["host", domainName]);
    this.#headers = headers;
    this.method = isV2(event) ? event.requestContext.http.method : event.httpMethod;
    this.target = eventTarget(event);
    this.scheme = this.header("x-forwarded-proto") === "http" ? "http" : "https";
    this.remoteAddress = this.#addressOf(event);
    const { body, isBase64Encoded } = event;
    this.hasBody = typeof body === "string" && body !== "";
    if (this.hasBody) this.#body = Buffer.from(body!, isBase64Encoded === true ? "base64" : "utf8");
  }

  headers(): ReadonlyArray<readonly [string, string]> {
    return this.#headers;
  }

  /** The body is complete before the request begins. */
  override read(limit: number): Promise<Uint8Array> {
    const body = this.#body ?? new Uint8Array();
    return body.length > limit ? Promise.reject(tooLarge(limit)) : Promise.resolve(body);
  }

  protected override async next(): Promise<Uint8Array | undefined> {
    const body = this.#body;
    this.#body = undefined;
    return body;
  }

  #addressOf(event: LambdaEvent): string | undefined {
    if (isV2(event)) return event.requestContext.http.sourceIp;
    const { identity, elb } = event.requestContext;
    return elb === undefined ? identity?.sourceIp : lastAddress(this.header("x-forwarded-for"));
  }
}

/** A load balancer appends the address of its client, with a port if it is set up so. */
function lastAddress(forwarded: string | undefined): string | undefined {
  const last = forwarded?.split(",").at(-1)?.trim() ?? "";
  const address = isIP(last) === 0 ? (/^\[?(.*?)\]?:\d+$/.exec(last)?.[1] ?? "") : last;
  return isIP(address) === 0 ? undefined : address;
}

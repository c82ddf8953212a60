import { HttpError } from "@tollway/waymark";
import { type HeaderOptions, limitHeaders } from "../decision/headers.ts";
import {
  Code,
  type Descriptor,
  type DescriptorStatus,
  type HeaderValue,
  type RateLimitResponse,
} from "../protocol/messages.ts";
import { periodText } from "../protocol/units.ts";
import type { ClientOptions, LimitsTls, RateLimitClient } from "./rate-limit-client.ts";

/** Options of {@link createLimits}. */
export interface LimitsOptions {
  /** The domain of the rules. */
  readonly domain: string;
  /**
   * The address of the service's gRPC port: `host:port`, or `unix:PATH`. Or that of its HTTP port, `http://host:port` or
   * `https://host:port`, which every runtime reaches, workers included. Default `localhost:8081`.
   */
  readonly address?: string;
  /** Timeout of a call in milliseconds. Default 250. */
  readonly timeout?: number;
  /**
   * Behavior while the service does not respond: `open` allows requests without a limit, `closed` answers 503.
   * Default `open`.
   */
  readonly failure?: "open" | "closed";
  /**
   * The headers of an answer, unless the service sends its own. `separate`: `RateLimit-Limit`, `RateLimit-Remaining` and
   * `RateLimit-Reset`. `draft-10`: `RateLimit-Policy` and `RateLimit` of draft 10 of the IETF's rate limit header fields.
   * Default `separate`.
   */
  readonly headers?: "separate" | "draft-10";
  /** Uses TLS for gRPC; `{}` trusts the CAs of Node. Default: no TLS. */
  readonly tls?: LimitsTls;
  /** Logs when the service stops responding and when it responds again. Default `console.warn`. */
  readonly log?: (message: string) => void;
}

/** The entries of a descriptor. Undefined counts as the empty value: all unknown callers share one counter. */
export type DescriptorValues = Readonly<Record<string, string | number | boolean | undefined>>;
/** One descriptor, or several. A request is refused if one of them is over its limit. */
export type Descriptors = DescriptorValues | readonly DescriptorValues[];

/** The part of a Waymark controller that `check` uses. */
export interface Caller {
  /** The response of the request, for the rate limit headers. */
  readonly response: { readonly headers: Headers };
}

/** The limits of one domain. */
export interface Limits {
  /**
   * Counts a request against the rules of the domain. Within the limits, it resolves and adds the headers of the option
   * `headers` to the caller's response, or those that the service sends.
   * @param hits the number of hits; 0 reads without counting. Default 1
   * @throws {HttpError} 429 with these headers and `Retry-After`, if the request is over a limit
   */
  check(caller: Caller, descriptors: Descriptors, hits?: number): Promise<void>;
  /** Closes the connection. Calls in flight fail. */
  close(): void;
}

const HEADERS: HeaderOptions = {
  format: "contract",
  limit: "RateLimit-Limit",
  remaining: "RateLimit-Remaining",
  reset: "RateLimit-Reset",
};

export class ServiceLimits implements Limits {
  readonly #domain: string;
  readonly #open: boolean;
  readonly #log: (message: string) => void;
  readonly #client: RateLimitClient;
  readonly #headers: HeaderOptions;
  #failing = false;

  /** @param clientOf makes the client; throws a TypeError for an address that the runtime cannot reach */
  constructor(options: LimitsOptions, clientOf: (options: ClientOptions) => RateLimitClient) {
    const { domain, address, timeout = 250, failure = "open", headers = "separate", tls, log } = options;
    if (typeof domain !== "string" || domain === "") {
      throw new TypeError(
        "domain must be the name of a domain in Tollgate's configuration and must not be empty",
      );
    }
    if (!(Number.isFinite(timeout) && timeout > 0)) {
      throw new TypeError(`timeout must be a number of milliseconds above 0, not ${timeout}`);
    }
    if (failure !== "open" && failure !== "closed") {
      throw new TypeError(`failure must be "open" or "closed", not ${JSON.stringify(failure)}`);
    }
    if (headers !== "separate" && headers !== "draft-10") {
      throw new TypeError(`headers must be "separate" or "draft-10", not ${JSON.stringify(headers)}`);
    }
    this.#domain = domain;
    this.#headers = { ...HEADERS, format: headers === "draft-10" ? "draft-10" : "contract" };
    this.#open = failure === "open";
    this.#log = log ?? ((message) => console.warn(message));
    this.#client = clientOf({ address, timeout, tls });
  }

  async check(caller: Caller, descriptors: Descriptors, hits = 1): Promise<void> {
    const list = (Array.isArray(descriptors) ? descriptors : [descriptors]) as readonly DescriptorValues[];
    const response = await this.#shouldRateLimit(list.map((values) => descriptorOf(values, hits)));
    if (response === undefined) return;
    const { overallCode, statuses, responseHeadersToAdd } = response;
    const nameOf = (values: DescriptorValues, at: number) =>
      statuses[at]?.currentLimit?.name || Object.keys(values).join(".");
    const headers =
      responseHeadersToAdd.length > 0
        ? responseHeadersToAdd
        : limitHeaders(this.#headers, statuses, list.map(nameOf), overallCode);
    if (overallCode === Code.OVER_LIMIT) throw refusal(statuses, headers);
    for (const { key, value } of headers) caller.response.headers.set(key, value);
  }

  close(): void {
    this.#client.close();
  }

  /** @returns undefined if the call failed and the failure mode is `open` */
  async #shouldRateLimit(descriptors: readonly Descriptor[]): Promise<RateLimitResponse | undefined> {
    try {
      const response = await this.#client.shouldRateLimit({
        domain: this.#domain,
        descriptors,
        hitsAddend: 0,
      });
      this.#note(undefined);
      return response;
    } catch (error) {
      this.#note(error);
      if (this.#open) return undefined;
      throw new HttpError(503, "the rate limits cannot be checked at the moment; try again later", {
        headers: { "retry-after": "1" },
      });
    }
  }

  /** Logs one line when the service stops responding and one when it responds again. */
  #note(error: unknown): void {
    if (this.#failing === (error !== undefined)) return;
    this.#failing = error !== undefined;
    if (error === undefined) this.#log("the rate limits are checked again");
    else {
      const meanwhile = this.#open
        ? "requests are allowed without a limit"
        : "requests are answered with 503";
      this.#log(
        `the rate limits cannot be checked, ${meanwhile}: ${error instanceof Error ? error.message : error}`,
      );
    }
  }
}

function descriptorOf(values: DescriptorValues, hits: number): Descriptor {
  const entries = Object.entries(values).map(([key, value]) => ({
    key,
    value: value === undefined ? "" : String(value),
  }));
  return { entries, limit: undefined, hitsAddend: hits, isNegativeHits: false };
}

/** Creates a 429 that names the limit and the time until the next attempt. */
function refusal(statuses: readonly DescriptorStatus[], headers: readonly HeaderValue[]): HttpError {
  const over = statuses.filter(({ code }) => code === Code.OVER_LIMIT);
  const wait = Math.max(0, ...over.map(({ durationUntilReset }) => durationUntilReset));
  const limit = over.find(({ durationUntilReset }) => durationUntilReset === wait)?.currentLimit;
  const what = limit
    ? `the limit of ${limit.requestsPerUnit} requests per ${periodText(limit.unit, limit.unitMultiplier)} is exceeded`
    : "a limit is exceeded";
  const when = wait > 0 ? `; try again in ${wait} s` : "";
  return new HttpError(429, what + when, {
    headers: {
      ...Object.fromEntries(headers.map(({ key, value }) => [key.toLowerCase(), value])),
      ...(wait > 0 && { "retry-after": String(wait) }),
    },
  });
}

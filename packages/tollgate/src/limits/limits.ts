import { HttpError } from "@tollway/waymark";
import { type HeaderOptions, limitHeaders } from "../decision/headers.ts";
import {
  Code,
  type Descriptor,
  type DescriptorStatus,
  type HeaderValue,
  type RateLimitResponse,
} from "../protocol/messages.ts";
import { unitNames } from "../protocol/units.ts";
import { type LimitsTls, RateLimitClient } from "./client.ts";

export interface LimitsOptions {
  /** The container of the rules that are asked. */
  readonly domain: string;
  /** Where the service's gRPC port is: `host:port`, or `unix:PATH`. Default `localhost:8081`. */
  readonly address?: string;
  /** Milliseconds that a question may take before it counts as failed. Default 250. */
  readonly timeout?: number;
  /**
   * What becomes of requests while the service does not answer: `open` lets them pass without a limit, `closed`
   * answers 503. Default `open`.
   */
  readonly failure?: "open" | "closed";
  /** Speak TLS; `{}` trusts the run time's authorities. Default: none. */
  readonly tls?: LimitsTls;
  /** Hears when the service stops answering, and when it answers again. Default `console.warn`. */
  readonly log?: (message: string) => void;
}

/** What a request counts for. An undefined value counts as the empty one: who is unknown shares one counter. */
export type DescriptorValues = Readonly<Record<string, string | number | boolean | undefined>>;
export type Descriptors = DescriptorValues | readonly DescriptorValues[];

/** What `check` needs of a Waymark controller. */
export interface Caller {
  readonly response: { readonly headers: Headers };
}

export interface Limits {
  /**
   * Counts a request against the rules of the domain. Within the limits it resolves, and the caller's answer carries
   * `RateLimit-Limit`, `RateLimit-Remaining` and `RateLimit-Reset` (or what the service is configured to send).
   * Beyond one of them it throws an `HttpError` 429, with these headers and `Retry-After`.
   * @param hits what the request counts for; 0 only looks. Default 1
   */
  check(caller: Caller, descriptors: Descriptors, hits?: number): Promise<void>;
  /** Closes the connection. Questions under way fail. */
  close(): void;
}

const HEADERS: HeaderOptions = {
  format: "contract",
  limit: "RateLimit-Limit",
  remaining: "RateLimit-Remaining",
  reset: "RateLimit-Reset",
};

/**
 * Makes the limits of one domain. The connection is made at the first question.
 * @throws {TypeError} for options that make no sense
 */
export function createLimits(options: LimitsOptions): Limits {
  return new ServiceLimits(options);
}

class ServiceLimits implements Limits {
  readonly #domain: string;
  readonly #open: boolean;
  readonly #log: (message: string) => void;
  readonly #client: RateLimitClient;
  #failing = false;

  constructor({
    domain,
    address = "localhost:8081",
    timeout = 250,
    failure = "open",
    tls,
    log,
  }: LimitsOptions) {
    if (typeof domain !== "string" || domain === "") {
      throw new TypeError("domain must be the name of a domain in Tollgate's configuration, not empty");
    }
    if (!(Number.isFinite(timeout) && timeout > 0)) {
      throw new TypeError(`timeout must be a number of milliseconds above 0, not ${timeout}`);
    }
    if (failure !== "open" && failure !== "closed") {
      throw new TypeError(`failure must be "open" or "closed", not ${JSON.stringify(failure)}`);
    }
    this.#domain = domain;
    this.#open = failure === "open";
    this.#log = log ?? ((message) => console.warn(message));
    this.#client = new RateLimitClient(address, timeout, tls);
  }

  async check(caller: Caller, descriptors: Descriptors, hits = 1): Promise<void> {
    const list = (Array.isArray(descriptors) ? descriptors : [descriptors]) as readonly DescriptorValues[];
    const response = await this.#ask(list.map((values) => descriptorOf(values, hits)));
    if (response === undefined) return;
    const { overallCode, statuses, responseHeadersToAdd } = response;
    const headers =
      responseHeadersToAdd.length > 0
        ? responseHeadersToAdd
        : limitHeaders(HEADERS, statuses, [], overallCode);
    if (overallCode === Code.OVER_LIMIT) throw refusal(statuses, headers);
    for (const { key, value } of headers) caller.response.headers.set(key, value);
  }

  close(): void {
    this.#client.close();
  }

  /** Undefined where the service could not decide, and that is no reason to refuse. */
  async #ask(descriptors: readonly Descriptor[]): Promise<RateLimitResponse | undefined> {
    try {
      const response = await this.#client.ask({ domain: this.#domain, descriptors, hitsAddend: 0 });
      this.#note(undefined);
      return response;
    } catch (error) {
      this.#note(error);
      if (this.#open) return undefined;
      throw new HttpError(503, "the rate limits cannot be checked now; try again soon", {
        headers: { "retry-after": "1" },
      });
    }
  }

  /** One line each time that the service stops answering, and when it answers again. */
  #note(error: unknown): void {
    if (this.#failing === (error !== undefined)) return;
    this.#failing = error !== undefined;
    if (error === undefined) this.#log("the rate limits are checked again");
    else {
      const meanwhile = this.#open ? "requests pass without a limit" : "requests are answered with 503";
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

/** 429 with what the caller needs to do better: which limit, and when to come back. */
function refusal(statuses: readonly DescriptorStatus[], headers: readonly HeaderValue[]): HttpError {
  const over = statuses.filter(({ code }) => code === Code.OVER_LIMIT);
  const wait = Math.max(0, ...over.map(({ durationUntilReset }) => durationUntilReset));
  const limit = over.find(({ durationUntilReset }) => durationUntilReset === wait)?.currentLimit;
  const what = limit
    ? `the limit of ${limit.requestsPerUnit} per ${unitNames[limit.unit].toLowerCase()} is used up`
    : "a limit is used up";
  const when = wait > 0 ? `; try again in ${wait} s` : "";
  return new HttpError(429, what + when, {
    headers: {
      ...Object.fromEntries(headers.map(({ key, value }) => [key.toLowerCase(), value])),
      ...(wait > 0 && { "retry-after": String(wait) }),
    },
  });
}

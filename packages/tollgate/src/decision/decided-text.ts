import { descriptorOf, domainOf } from "../protocol/decode-request.ts";
import type { Entry, RateLimitRequest } from "../protocol/messages.ts";
import { RequestPlaces } from "../protocol/scan-request.ts";
import type { Scratch } from "./scratch.ts";

/** The texts of a decided request, for the few requests that need them. Reused by the next decision. */
export class DecidedText {
  #request: RateLimitRequest | undefined;
  #places: RequestPlaces | undefined;
  #scratch: Scratch | undefined;
  readonly #own = new RequestPlaces();

  /**
   * @param request if there is one
   * @param places of the message; undefined if the store has answered later. The message is then in `scratch.message`.
   */
  begin(request: RateLimitRequest | undefined, places: RequestPlaces | undefined, scratch: Scratch): void {
    this.#request = request;
    this.#places = places;
    this.#scratch = scratch;
  }

  get domain(): string {
    return this.#request?.domain ?? domainOf(this.#scanned());
  }

  entries(descriptor: number): readonly Entry[] {
    if (this.#request !== undefined) return this.#request.descriptors[descriptor]!.entries;
    const places = this.#scanned();
    return descriptorOf(places, places.descriptors[descriptor]!).entries;
  }

  /** The places of the message; undefined if the request did not come as one. */
  get places(): RequestPlaces | undefined {
    return this.#request === undefined ? this.#scanned() : undefined;
  }

  #scanned(): RequestPlaces {
    if (this.#places !== undefined) return this.#places;
    const { message, messageLength } = this.#scratch!;
    // The request has passed the limits on its size before.
    this.#own.scan(message, 0, messageLength, NO_LIMITS);
    this.#places = this.#own;
    return this.#own;
  }
}

const NO_LIMITS = { descriptors: Number.POSITIVE_INFINITY, entries: Number.POSITIVE_INFINITY };

import type { RateLimitRequest, RateLimitResponse } from "../protocol/messages.ts";
import type { RequestPlaces } from "../protocol/scan-request.ts";
import { PendingAnswer } from "./pending-answer.ts";
import type { PreparedPart } from "./prepared.ts";

/** Makes the response of a decision from the results of its store. */
interface Resumer<Objects> {
  resume(pending: PendingDecision<Objects>, isPromised: boolean): RateLimitResponse;
}

const noParts: readonly PreparedPart[] = [];

/**
 * A decision in progress, which its store may answer later.
 * @typeParam Objects the objects of the decision
 */
export class PendingDecision<Objects = unknown> extends PendingAnswer<RateLimitResponse> {
  readonly scratch: Objects;
  request: RateLimitRequest | undefined;
  /** Undefined if the request did not come as a message, or another message may have overwritten it. */
  places: RequestPlaces | undefined;
  parts = noParts;
  /** Milliseconds since the epoch. */
  now = 0;
  readonly #decider: Resumer<Objects>;

  constructor(scratch: Objects, decider: Resumer<Objects>) {
    super();
    this.scratch = scratch;
    this.#decider = decider;
  }

  begin(
    request: RateLimitRequest | undefined,
    places: RequestPlaces | undefined,
    parts: readonly PreparedPart[],
    now: number,
  ): void {
    this.request = request;
    this.places = places;
    this.parts = parts;
    this.now = now;
  }

  /** It must not retain its request. */
  end(): void {
    this.request = undefined;
    this.parts = noParts;
  }

  protected override conclude(isPromised: boolean): RateLimitResponse {
    return this.#decider.resume(this, isPromised);
  }
}

import { createLimits, type Limits } from "@tollway/tollgate/limits";
import { Controller } from "@tollway/waymark";
import { ADDRESSES } from "../addresses.ts";

// A slow machine must not turn a decision into an error.
const timeout = 60_000;
const shop = createLimits({ domain: "shop", address: ADDRESSES.http, headers: "draft-10", timeout });
const separate = createLimits({ domain: "shop", address: ADDRESSES.http, timeout });
const log = () => undefined;
const open = createLimits({ domain: "shop", address: ADDRESSES.down, log });
const closed = createLimits({ domain: "shop", address: ADDRESSES.down, failure: "closed", log });

abstract class Limited extends Controller {
  abstract readonly limits: Limits;
  override before() {
    return this.limits.check(this, { user: this.headers.get("user") ?? undefined });
  }
  GET() {
    return "served";
  }
}

export class Http extends Limited {
  readonly limits = shop;
}

export class Separate extends Limited {
  readonly limits = separate;
}

export class Open extends Limited {
  readonly limits = open;
}

export class Closed extends Limited {
  readonly limits = closed;
}

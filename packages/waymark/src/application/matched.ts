import type { Controller } from "../controller/controller.ts";
import type { Exchange } from "../controller/exchange.ts";
import type { Call } from "../http/call.ts";
import type { RouteClass, Routes, RouteVerb } from "../routing/routes.ts";

/** The data that a call needs besides the request. */
export interface Matched {
  readonly routes: Routes;
  readonly route: RouteClass;
  readonly entry: RouteVerb;
  readonly call: Call;
  readonly controller: Controller;
  /** Undefined if no hook observes requests. */
  readonly exchange: Exchange | undefined;
}

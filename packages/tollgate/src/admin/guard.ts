/** Keeps requests without a credential from every path of the admin API, and remembers who sent the others. */
import { AsyncLocalStorage } from "node:async_hooks";
import type { Guard } from "../listeners/http-listener.ts";
import type { Logger } from "../observe/log.ts";
import { Throttle, withCount } from "../observe/throttle.ts";
import type { Operators } from "./operators.ts";

const caller = new AsyncLocalStorage<string>();

/** The name of the operator whose request is served now. */
export function currentOperator(): string {
  return caller.getStore() ?? "unknown";
}

export function adminGuard(operators: Operators, log: Logger): Guard {
  const throttle = new Throttle();
  return (request, serve) => {
    const name = operators.nameOf(request);
    if (name !== undefined) {
      request.url = withIdInQuery(request.url!);
      caller.run(name, serve);
      return undefined;
    }
    const count = throttle.hit();
    if (count !== undefined)
      log.warn(withCount("the admin API refused a request without a valid credential", count));
    return {
      status: 401,
      detail: "the request has no valid credential: send the header Authorization: Bearer TOKEN",
      headers: { "www-authenticate": 'Bearer realm="tollgate admin"' },
    };
  };
}

/** `/admin/v1/overrides/ID` as `/admin/v1/overrides?id=ID`. */
function withIdInQuery(target: string): string {
  const [, id, query] = /^\/admin\/v1\/overrides\/([^/?]+)(?:\?(.*))?$/.exec(target) ?? [];
  if (id === undefined) return target;
  return `/admin/v1/overrides?id=${id.replaceAll("+", "%2B")}${query === undefined ? "" : `&${query}`}`;
}

import { message } from "../support/decision.ts";
import { onPeer, tollgate } from "../support/peers.ts";
import { KEY_PLACE, rawLoad } from "../support/raw-load.ts";
import { type Budget, gateway } from "./budget.ts";

const LIMIT = 20_000;
/** The unit is longer than any run. */
const rules = `
domain: bench
descriptors:
  - key: user
    rate_limit: { unit: year, requests_per_unit: ${LIMIT} }
`;

/** Checks that the service admits exactly the limit under load. */
export const exactness: Budget = async ({ redis }) => {
  const rows = [];
  const kinds: [string, Record<string, string>, string][] = [
    ["embedded", {}, "0"],
    ["embedded, two threads", { WORKERS: "2" }, "0,1"],
    ["over Redis", { KVSTORE_URL: redis }, "0"],
  ];
  for (const [name, env, cores] of kinds) {
    const keys = 4;
    const calls = LIMIT * keys * 2;
    const { ok } = await onPeer(tollgate(env, cores, rules), ({ server, url }) =>
      rawLoad(server.pid, url, { ...gateway, calls, keys, message: message(`user=${KEY_PLACE}`) }),
    );
    rows.push({
      budget: `${name}: ${keys} limits of ${LIMIT} admit exactly ${keys * LIMIT} of ${calls} calls under load`,
      figure: String(ok),
      baseline: String(keys * LIMIT),
      met: ok === keys * LIMIT,
    });
  }
  return rows;
};

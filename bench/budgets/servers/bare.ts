/** The path of a decision without observability: no statistics, no timing, no tracing checks. */
import { GrpcServer } from "@tollway/grpc-wire";
import { EmbeddedStore } from "../../../packages/tollgate/src/counters/embedded/embedded-store.ts";
import { Decider } from "../../../packages/tollgate/src/decision/decide.ts";
import { RateLimitHandler } from "../../../packages/tollgate/src/listeners/rate-limit-handler.ts";
import { createLogger } from "../../../packages/tollgate/src/observe/log.ts";
import { newRuleStatistics, type Statistics } from "../../../packages/tollgate/src/observe/statistics.ts";
import { maxResponseSize, writeResponse } from "../../../packages/tollgate/src/protocol/encode-response.ts";
import type { RateLimitResponse } from "../../../packages/tollgate/src/protocol/messages.ts";
import { loadRules } from "../../../packages/tollgate/src/rules/load-rules.ts";
import { decisionOptions, rules } from "../../support/decision.ts";
import { METHOD } from "../../support/tollgate.ts";

const nothing = newRuleStatistics();
const counter = { value: 0 };
const statistics: Statistics = {
  rule: () => nothing,
  reservationsOf: () => ({ reserved: 0, released: 0, expired: 0, committed: 0 }),
  domainNotFound: () => counter,
  counter: () => counter,
  counterFrom() {},
  gauge() {},
  timer: () => ({ record() {} }),
};
const { ruleSet } = loadRules([{ name: "bench.yaml", text: rules }], { mergeDomains: false });
const store = EmbeddedStore.create();
const handler = new RateLimitHandler({
  decider: new Decider(decisionOptions, statistics, store),
  store,
  ruleSet: () => ruleSet,
  statistics,
  log: createLogger(),
});
const server = new GrpcServer().unaryInPlace(METHOD, (call) => {
  const { buffer, start, end, readAt, deadline } = call;
  const response = handler.decideMessage(buffer, start, end, readAt, deadline) as RateLimitResponse;
  const bytes = call.reserve(maxResponseSize(response));
  call.commit(writeResponse(response, bytes, call.offset) - call.offset);
});
await server.listen({ host: "127.0.0.1", port: Number(process.env.BENCH_PORT) });
console.log("ready");

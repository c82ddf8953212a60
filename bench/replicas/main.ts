/**
 * `npm run bench -- replicas`: how long after a reset the other replica still refuses. Two replicas with two threads each
 * share a Redis. Every thread has the counter in its over-limit cache.
 */
import { descriptor, GrpcCaller, request } from "../../packages/tollgate/test/grpc-caller.ts";
import { startRedis } from "../support/redis.ts";
import { freePort, startTollgate } from "../support/tollgate.ts";

const ROUNDS = 200;
const CALLERS = 8;
const TOKEN = "bench-0123456789abcdef0123456789abcdef";
const rules = "domain: d\ndescriptors: [{ key: day, rate_limit: { unit: day, requests_per_unit: 8 } }]\n";

export async function main(): Promise<void> {
  const redis = await startRedis();
  const adminPort = await freePort();
  const env = {
    BACKEND_TYPE: "kvstore",
    KVSTORE_URL: redis.url,
    WORKERS: "2",
    LOCAL_CACHE_SIZE_IN_BYTES: "1000000",
    LOCAL_CACHE_REVALIDATE: "1h",
    ADMIN_TOKENS: `bench:${TOKEN}`,
  };
  const one = await startTollgate({ ...env, ADMIN_PORT: String(adminPort) }, undefined, rules);
  const two = await startTollgate({ ...env, ADMIN_PORT: "0" }, undefined, rules);
  const callers = [one, two].map(({ url }) =>
    Array.from(
      { length: CALLERS },
      () => new GrpcCaller(new URL(url).host, undefined, { "grpc.use_local_subchannel_pool": 1 }),
    ),
  );
  const all = async (replica: number, hitsAddend: number) => {
    const asked = request("d", descriptor("day=a", { hitsAddend }));
    const answers = await Promise.all(callers[replica]!.map((caller) => caller.ask(asked)));
    return answers.filter(({ overallCode }) => overallCode === 1).length;
  };
  const waits: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    for (const replica of [0, 1]) for (let time = 0; time < 3; time++) await all(replica, 1);
    const answer = await fetch(`http://127.0.0.1:${adminPort}/admin/v1/counters/reset`, {
      method: "POST",
      headers: { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" },
      body: JSON.stringify({ domain: "d", descriptor: "day=a" }),
    });
    const begun = performance.now();
    if (!answer.ok) throw new Error(await answer.text());
    while ((await all(1, 0)) < CALLERS);
    waits.push(performance.now() - begun);
  }
  for (const caller of callers.flat()) caller.close();
  await one.stop();
  await two.stop();
  await redis.stop();
  waits.sort((first, second) => first - second);
  const at = (share: number) =>
    waits[Math.min(Math.floor(waits.length * share), waits.length - 1)]!.toFixed(1);
  console.log(
    `from the answer to a reset until the last refusal of the other replica has ended, ${ROUNDS} resets`,
  );
  console.log(
    `median ${at(0.5)} ms, p99 ${at(0.99)} ms, longest ${at(1)} ms (one round of ${CALLERS} looks included)`,
  );
}

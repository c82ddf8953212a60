/** Token budgets with a stock Envoy, and their limitation: requests that run at the same time. */
import assert from "node:assert/strict";
import type { ServerResponse } from "node:http";
import { test } from "node:test";
import { type RunningTollgate, startTollgate } from "../test/tollgate.ts";
import { Gateway } from "./gateway.ts";
import { deployFile, recipeConfig } from "./recipe.ts";

const COST = 40;
const REQUESTS = 10;
const user = { "x-user": "ann" };

/**
 * Starts as many requests before the first answer.
 * @param isComplete whether the answers may be sent
 * @param figures statistics of the rule when all calls have been counted: no request waits for those after its answer
 */
async function together(
  recipe: string,
  isComplete: (waiting: number, refused: number) => boolean,
  figures: Readonly<Record<string, number>>,
): Promise<{ passed: number; left: number }> {
  const tollgate = await startTollgate({
    config: { "rules.yaml": deployFile(`envoy/rules/${recipe}.yaml`) },
  });
  const waiting: ServerResponse[] = [];
  try {
    let refused = 0;
    const { promise: complete, resolve } = Promise.withResolvers<void>();
    const check = () => isComplete(waiting.length, refused) && resolve();
    await using gateway = await Gateway.start({
      rateLimitService: "",
      config: recipeConfig(`envoy/${recipe}.yaml`, { replicas: [tollgate.grpc], healthInterval: "0.2s" }),
      upstream: (_, response) => {
        waiting.push(response);
        check();
      },
    });
    const statuses = Promise.all(
      Array.from({ length: REQUESTS }, async () => {
        const { status } = await gateway.get("/", user);
        if (status === 429) refused++;
        check();
        return status;
      }),
    );
    await complete;
    for (const response of waiting) response.setHeader("x-tokens", String(COST)).end("answer");
    const passed = (await statuses).filter((status) => status === 200).length;
    for (const [name, figure] of Object.entries(figures))
      while (
        !(await page(tollgate)).includes(`ratelimit.service.rate_limit.tokens.user.${name}: ${figure}\n`)
      );
    return { passed, left: await left(tollgate) };
  } finally {
    await tollgate.stop();
  }
}

async function page({ debug }: RunningTollgate): Promise<string> {
  return await (await fetch(`http://${debug}/stats`)).text();
}

/** The rest of the limit. */
async function left({ http }: RunningTollgate): Promise<number> {
  const entries = [{ key: "user", value: "ann" }];
  const body = JSON.stringify({ domain: "tokens", descriptors: [{ entries }] });
  const answer = await fetch(`http://${http}/v1/check`, { method: "POST", body });
  const { statuses } = (await answer.json()) as { statuses: { limitRemaining?: number }[] };
  return statuses[0]!.limitRemaining ?? 0;
}

test("deploy/envoy/post-response.yaml: all requests that run at the same time pass the look", async () => {
  // Four times the limit of 100.
  const figures = { total_hits: REQUESTS * COST };
  const { passed, left } = await together("post-response", (waiting) => waiting === REQUESTS, figures);
  assert.deepEqual([passed, left], [REQUESTS, 0]);
});

test("deploy/envoy/token-estimate.yaml: only requests whose estimates fit pass", async () => {
  // Each request counts its estimate of 40 and gets it back, also if it is refused. Two pass, and count what they cost.
  const figures = { total_hits: (REQUESTS + 2) * 40, total_negative_hits: REQUESTS * 40 };
  const { passed, left } = await together(
    "token-estimate",
    (waiting, refused) => waiting + refused === REQUESTS,
    figures,
  );
  assert.deepEqual([passed, left], [2, 100 - 2 * COST]);
});

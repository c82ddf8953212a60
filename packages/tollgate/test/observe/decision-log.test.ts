import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { Ajv2020 } from "ajv/dist/2020.js";
import type { SampledDecision } from "../../src/observe/decision-log/decision-feed.ts";
import { until } from "../counters/kvstore-support.ts";
import { descriptor, GrpcCaller, request } from "../grpc-caller.ts";
import { bareEnvironment, type RunningTollgate, startTollgate, watchTollgate } from "../tollgate.ts";

const config = {
  "shop.yaml": `domain: shop
descriptors:
  - key: user
    rate_limit: { unit: day, requests_per_unit: 3 }
  - key: plan
    value: free
    rate_limit: { unlimited: true }
  - key: tenant
    rate_limits:
      - { unit: day, requests_per_unit: 5 }
      - { unit: hour, requests_per_unit: 4, name: hourly }
`,
};

const schema = readFileSync(new URL("../../schema/decision.schema.json", import.meta.url), "utf8");
const isValid = new Ajv2020({ strict: false }).compile(JSON.parse(schema) as object);

const linesOf = (text: string): SampledDecision[] =>
  text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as SampledDecision);

/** A decision without the parts that differ from run to run. */
function fixed({ time, duration_us, ...decision }: SampledDecision): object {
  assert.match(time, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  assert.ok(Math.abs(Date.parse(time) - Date.now()) < 3_600_000);
  assert.ok(Number.isInteger(duration_us) && duration_us >= 0);
  return {
    ...decision,
    descriptors: decision.descriptors.map((one) => {
      if (one.reset === undefined) return one;
      assert.ok(one.reset > 0 && one.reset <= 86_400);
      return { ...one, reset: "..." };
    }),
  };
}

describe("the log of decisions", () => {
  let folder: string;
  let number = 0;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "tollgate-decision-log-"));
  });
  after(() => rm(folder, { recursive: true, force: true }));

  /** Runs a service, and returns its log after it has ended. */
  async function logged(
    env: Record<string, string>,
    use: (tollgate: RunningTollgate, ask: (...descriptors: string[]) => Promise<void>) => Promise<void>,
  ): Promise<SampledDecision[]> {
    const path = join(folder, `${++number}.jsonl`);
    const tollgate = await startTollgate({ config, env: { DECISION_LOG: path, ...env } });
    const caller = new GrpcCaller(tollgate.grpc);
    try {
      await use(tollgate, async (...descriptors) => {
        await caller.ask(request("shop", ...descriptors.map((text) => descriptor(text))));
      });
    } finally {
      caller.close();
      await tollgate.stop();
    }
    const isOutput = env.DECISION_LOG === "stdout";
    const lines = linesOf(isOutput ? tollgate.output.join("\n") : readFileSync(path, "utf8"));
    for (const line of lines) assert.ok(isValid(line), JSON.stringify([line, isValid.errors]));
    return lines;
  }

  for (const workers of ["1", "2"])
    test(`has a line for each sampled request, with ${workers} threads for gRPC`, async () => {
      const lines = await logged({ DECISION_LOG_SAMPLE: "1", WORKERS: workers }, async (_tollgate, ask) => {
        await ask("user=alice", "color=red", "plan=free");
        for (let call = 0; call < 3; call++) await ask("user=alice");
        await ask("tenant=acme");
      });
      assert.deepEqual(lines.length, 5);
      const alice = {
        entries: [["user", "alice"]],
        hits: 1,
        sampled: true,
        rule: "shop.user",
        file: "shop.yaml:3",
      };
      const limit = { requests_per_unit: 3, unit: "day" };
      const common = { rate: 1, reason: "sample", domain: "shop" };
      assert.deepEqual(fixed(lines[0]!), {
        ...common,
        code: "OK",
        descriptors: [
          { ...alice, code: "OK", limit, count: 1, remaining: 2, reset: "..." },
          { entries: [["color", "red"]], hits: 1, sampled: true, code: "OK" },
          {
            entries: [["plan", "free"]],
            hits: 1,
            sampled: true,
            rule: "shop.plan_free",
            file: "shop.yaml:5",
            code: "OK",
          },
        ],
      });
      assert.deepEqual(fixed(lines[3]!), {
        ...common,
        code: "OVER_LIMIT",
        descriptors: [{ ...alice, code: "OVER_LIMIT", limit, count: 4, remaining: 0, reset: "..." }],
      });
      assert.deepEqual(fixed(lines[4]!), {
        ...common,
        code: "OK",
        descriptors: [
          {
            entries: [["tenant", "acme"]],
            hits: 1,
            sampled: true,
            rule: "shop.tenant",
            file: "shop.yaml:8",
            code: "OK",
            limit: { requests_per_unit: 4, unit: "hour" },
            count: 1,
            remaining: 3,
            reset: "...",
          },
        ],
      });
    });

  test("has refusals of other keys, up to the rate, on standard output", async () => {
    const lines = await logged(
      { DECISION_LOG: "stdout", DECISION_LOG_SAMPLE: "0", DECISION_LOG_REFUSALS_PER_SECOND: "1" },
      async (_tollgate, ask) => {
        for (let call = 0; call < 4; call++) await ask("user=bob");
      },
    );
    assert.equal(lines.length, 1);
    const [{ reason, rate, descriptors }] = lines as [SampledDecision];
    assert.deepEqual(
      [reason, rate, descriptors[0]!.sampled, descriptors[0]!.count],
      ["refusal", 0, false, 4],
    );
  });

  test("a sampled key is complete, whichever listener and thread its requests take", async () => {
    const users = Array.from({ length: 100 }, (_, index) => `user-${index}`);
    const env = { DECISION_LOG_SAMPLE: "0.2", DECISION_LOG_REFUSALS_PER_SECOND: "0", WORKERS: "2" };
    const lines = await logged(env, async (tollgate, ask) => {
      for (const user of users) {
        await ask(`user=${user}`);
        const body = JSON.stringify({
          domain: "shop",
          descriptors: [{ entries: [{ key: "user", value: user }] }],
        });
        await fetch(`http://${tollgate.http}/json`, { method: "POST", body });
      }
    });
    const sampled = lines.flatMap(({ descriptors }) => descriptors.map(({ entries }) => entries[0]![1]));
    const times = Map.groupBy(sampled, (user) => user);
    for (const [user, { length }] of times) assert.equal(length, 2, user);
    // The hash has no random part, so the chosen users are always the same.
    assert.ok(times.size >= 10 && times.size <= 35, `${times.size} of 100 users`);
  });

  test("masks values, and is empty without requests", async () => {
    assert.deepEqual(await logged({}, async () => {}), []);
    const env = { DECISION_LOG_SAMPLE: "1", TOP_KEYS_MASK: "user", TOP_KEYS_MASK_STYLE: "hide" };
    const [line] = await logged(env, (_tollgate, ask) => ask("user=alice,tenant=acme"));
    assert.deepEqual(line!.descriptors[0]!.entries, [
      ["user", "*****"],
      ["tenant", "acme"],
    ]);
  });

  test("a reader that stops delays no decision; lines that do not fit are counted, and none is torn", async () => {
    const root = join(folder, `${++number}`);
    await mkdir(join(root, "config"), { recursive: true });
    await writeFile(join(root, "config", "shop.yaml"), config["shop.yaml"]);
    const command = fileURLToPath(new URL("../../bin/tollgate.mjs", import.meta.url));
    const ports = { HOST: "127.0.0.1", GRPC_HOST: "127.0.0.1", DEBUG_HOST: "127.0.0.1" };
    const child = spawn(process.execPath, [command], {
      env: {
        ...bareEnvironment,
        ...ports,
        ...{ PORT: "0", GRPC_PORT: "0", DEBUG_PORT: "0", WORKERS: "1", BACKEND_TYPE: "embedded" },
        ...{ RUNTIME_ROOT: root, DISABLE_STATS: "true", DECISION_LOG: "stdout", DECISION_LOG_SAMPLE: "1" },
      },
      stdio: ["ignore", "pipe", "pipe"],
    });
    const tollgate = watchTollgate(child);
    const caller = new GrpcCaller((await tollgate.logged(/Listening for HTTP/)) && tollgate.grpc);
    // Lines of some 30 KB: 300 of them are more than the queue and the pipe hold.
    const wide = Array.from({ length: 100 }, (_, index) => descriptor(`color=${index}${"x".repeat(250)}`));
    try {
      child.stdout.pause();
      for (let call = 0; call < 300; call++) await caller.ask(request("shop", ...wide));
      // The log drops lines some time after their decisions.
      let dropped = 0;
      const readDropped = async () => {
        const page = await fetch(`http://${tollgate.debug}/stats?filter=decision_log`);
        dropped = Number(/^ratelimit\.decision_log\.dropped: (\d+)$/m.exec(await page.text())![1]);
        return dropped;
      };
      await until("a dropped line", async () => (await readDropped()) > 0);
      child.stdout.resume();
      // A stop waits two seconds for the reader, which a slow machine exceeds.
      await until(
        "each line is read or dropped",
        async () => tollgate.output.length + (await readDropped()) === 300,
      );
      assert.ok(dropped < 300, `${dropped} of 300 lines are dropped`);
      await tollgate.stop();
      assert.equal(linesOf(tollgate.output.join("\n")).length, 300 - dropped);
    } finally {
      caller.close();
      child.stdout.resume();
      await tollgate.stop();
    }
  });

  test("a file that cannot be opened stops the start", async () => {
    const tollgate = await startTollgate({ config, env: { DECISION_LOG: "/dev/null" }, unopened: true });
    assert.match(
      await tollgate.logged(/DECISION_LOG/),
      /DECISION_LOG=.*\/dev\/null.* cannot be opened: \/dev\/null is not a regular file; use a file, or stdout/,
    );
    assert.equal((await tollgate.ended).code, 1);
  });
});

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { descriptor, GrpcCaller, request } from "./grpc-caller.ts";
import { bareEnvironment, type RunningTollgate, startTollgate } from "./tollgate.ts";

const rules = `
domain: shop
descriptors:
  - key: user
    rate_limit: { unit: day, requests_per_unit: 3 }
  - key: user
    value: vip
    rate_limit: { unlimited: true }
  - key: path
    value: /files/*
    descriptors:
      - key: method
        rate_limit: { unit: day, requests_per_unit: 2 }
  - key: shadowed
    shadow_mode: true
    rate_limit: { unit: day, requests_per_unit: 0 }
  - key: whitelisted
`;

describe("the main job: files on disk, decisions over gRPC and HTTP, counted in the process", () => {
  let tollgate: RunningTollgate;
  let caller: GrpcCaller;

  before(async () => {
    tollgate = await startTollgate({ config: { "shop.yaml": rules } });
    caller = new GrpcCaller(tollgate.grpc);
  });
  after(async () => {
    caller.close();
    const { code } = await tollgate.stop();
    assert.equal(code, 0, tollgate.log.join("\n"));
  });

  async function json(body: unknown, init: RequestInit = {}) {
    const text = typeof body === "string" ? body : JSON.stringify(body);
    const response = await fetch(`http://${tollgate.http}/json`, { method: "POST", body: text, ...init });
    return {
      status: response.status,
      type: response.headers.get("content-type"),
      body: JSON.parse(await response.text()),
    };
  }
  const entries = (...pairs: [string, string][]) => ({
    entries: pairs.map(([key, value]) => ({ key, value })),
  });

  test("a limit counts down over both listeners and then refuses", async () => {
    const left: (number | string)[] = [];
    for (let call = 0; call < 2; call++) {
      const { statuses } = await caller.ask(request("shop", descriptor("user=ann")));
      left.push(statuses[0]!.limitRemaining);
    }
    const third = await json({ domain: "shop", descriptors: [entries(["user", "ann"])] });
    assert.equal(third.status, 200);
    assert.equal(third.type, "application/json; charset=utf-8");
    const [status] = third.body.statuses;
    assert.match(status.durationUntilReset, /^\d+s$/);
    delete status.durationUntilReset;
    assert.deepEqual(third.body, {
      overallCode: "OK",
      statuses: [{ code: "OK", currentLimit: { requestsPerUnit: 3, unit: "DAY" }, limitRemaining: 0 }],
    });
    const fourth = await json({ domain: "shop", descriptors: [entries(["user", "ann"])] });
    assert.equal(fourth.status, 429);
    assert.equal(fourth.body.overallCode, "OVER_LIMIT");
    assert.deepEqual(left, [2, 1]);
    assert.equal((await caller.ask(request("shop", descriptor("user=ann")))).overallCode, 2);
  });

  test("nesting, wildcards, unlimited, shadow mode, whitelisting, no rule, no domain", async () => {
    const response = await caller.ask(
      request(
        "shop",
        descriptor("path=/files/a,method=GET"),
        descriptor("user=vip"),
        descriptor("shadowed=x"),
        descriptor("whitelisted=x"),
        descriptor("nothing=x"),
      ),
    );
    assert.deepEqual(
      response.statuses.map(({ code, limitRemaining }) => [code, limitRemaining]),
      [
        [1, 1],
        [1, 4_294_967_295],
        [1, 0],
        [1, 0],
        [1, 0],
      ],
    );
    assert.equal(response.overallCode, 1);
    assert.equal((await caller.ask(request("elsewhere", descriptor("user=ann")))).overallCode, 1);
  });

  const badCalls: [string, () => Promise<unknown>, number, RegExp][] = [
    [
      "no domain",
      () => caller.ask(request("", descriptor("a=b"))),
      3,
      /^rate limit domain must not be empty$/,
    ],
    [
      "no descriptors",
      () => caller.ask(request("shop")),
      3,
      /^rate limit descriptor list must not be empty$/,
    ],
    [
      "an unknown unit",
      () => caller.ask(request("shop", descriptor("a=b", { limit: { requestsPerUnit: 1, unit: 0 } }))),
      3,
      /unknown unit 0/,
    ],
    [
      "no message",
      () => caller.askWithBytes(Buffer.from("0aff", "hex")),
      3,
      /^the request cannot be decoded: /,
    ],
  ];
  for (const [name, call, code, details] of badCalls) {
    test(`over gRPC, ${name} is status ${code}`, async () => {
      await assert.rejects(call, (error: { code: number; details: string }) => {
        assert.equal(error.code, code);
        assert.match(error.details, details);
        return true;
      });
    });
  }

  const badBodies: [string, string, number, RegExp][] = [
    ["nothing", "", 400, /the body is not valid JSON/],
    ["invalid JSON", "{", 400, /the body is not valid JSON/],
    [
      "a duplicate member",
      '{"domain":"shop","descriptors":[{"entries":[{"key":"a","key":"b"}]}]}',
      400,
      /^descriptors\[0\]\.entries\[0\]\.key: must be given only once; it is given again at line 1, column 56$/,
    ],
    [
      "many digits",
      `{"domain":"shop","hitsAddend":"${"7".repeat(200_000)}"}`,
      400,
      /hitsAddend: must be a whole number/,
    ],
    ["a list", "[]", 400, /must be an object with a domain and descriptors, not a list/],
    ["an unknown field", '{"domain":"shop","descriptor":[]}', 400, /descriptor: is an unknown field/],
    [
      "a wrong type",
      '{"domain":"shop","descriptors":[{"entries":[{"key":7}]}]}',
      400,
      /descriptors\[0\]\.entries\[0\]\.key: must be a string, not 7/,
    ],
    ["no domain", '{"descriptors":[]}', 400, /rate limit domain must not be empty/],
    ["no descriptors", '{"domain":"shop"}', 400, /descriptor list must not be empty/],
    ["over 256 KiB", JSON.stringify({ domain: "x".repeat(256 * 1024) }), 413, /larger than 262144 bytes/],
  ];
  for (const [name, body, status, detail] of badBodies) {
    test(`/json answers a body with ${name} with ${status} and problem details`, async () => {
      const answer = await json(body);
      assert.equal(answer.status, status);
      assert.equal(answer.type, "application/problem+json");
      assert.match(answer.body.detail, detail);
      assert.doesNotMatch(JSON.stringify(answer.body), /node:|\.ts:|\\n +at /);
    });
  }

  test("/json names the faulty field, and accepts any content type", async () => {
    const { body } = await json({ domain: "shop", descriptors: [{ entries: 5 }] });
    assert.deepEqual(body.errors, [
      { in: "body", name: "descriptors[0].entries", message: "must be a list, not 5" },
    ]);
    const form = await json(
      { domain: "shop", descriptors: [entries(["nothing", "x"])] },
      { headers: { "content-type": "application/x-www-form-urlencoded" } },
    );
    assert.equal(form.status, 200);
  });

  const pages: [string, string, string, number, string | RegExp][] = [
    ["GET", "http", "/healthcheck", 200, "OK"],
    ["HEAD", "http", "/healthcheck", 200, ""],
    ["GET", "http", "/healthcheck?x=1", 200, "OK"],
    ["DELETE", "http", "/json", 405, /does not serve DELETE/],
    ["GET", "http", "/json", 405, /does not serve GET/],
    ["POST", "http", "/healthcheck", 405, /does not serve POST/],
    ["GET", "http", "/nothing", 404, /./],
    ["GET", "debug", "/", 200, /^\/explain: [\s\S]*^\/rlconfig: [\s\S]*^\/stats: /m],
    [
      "GET",
      "debug",
      "/rlconfig",
      200,
      /^shop\.user: unit=DAY requests_per_unit=3, shadow_mode: false, quota_mode: false$/m,
    ],
    [
      "GET",
      "debug",
      "/stats?filter=shop.user.total_hits",
      200,
      /^ratelimit\.service\.rate_limit\.shop\.user\.total_hits: \d+\n$/,
    ],
    ["GET", "debug", "/stats?filter=(", 400, /./],
    ["POST", "debug", "/rlconfig", 405, /./],
  ];
  for (const [method, listener, path, status, body] of pages) {
    test(`${method} ${path} on the ${listener} port is ${status}`, async () => {
      const base = listener === "http" ? tollgate.http : tollgate.debug;
      const response = await fetch(`http://${base}${path}`, { method });
      const text = await response.text();
      assert.equal(response.status, status, text);
      if (typeof body === "string") assert.equal(text, body);
      else assert.match(text, body);
      if (status === 405) assert.match(response.headers.get("allow") ?? "", /[A-Z]/);
    });
  }

  test("/rlconfig and /stats answer JSON on request", async () => {
    const headers = { accept: "application/json" };
    const config = (await (await fetch(`http://${tollgate.debug}/rlconfig`, { headers })).json()) as {
      domains: string[];
    };
    assert.deepEqual(config.domains, ["shop"]);
    const stats = (await (await fetch(`http://${tollgate.debug}/stats`, { headers })).json()) as Record<
      string,
      number
    >;
    assert.equal(stats["ratelimit.service.config_load_success"], 1);
  });

  test("/explain explains a decision and counts nothing", async () => {
    const ask = (accept: string) =>
      fetch(`http://${tollgate.debug}/explain`, {
        method: "POST",
        headers: { accept },
        body: JSON.stringify({ domain: "shop", descriptors: [entries(["user", "eve"])] }),
      });
    for (let call = 0; call < 5; call++) {
      const text = await (await ask("*/*")).text();
      assert.match(text, /shop\.yaml:4:5/);
      assert.match(text, /^count {6}0 now$/m);
    }
    const body = (await (await ask("application/json")).json()) as {
      descriptors: { cacheKey: string; answer: unknown }[];
    };
    assert.match(body.descriptors[0]!.cacheKey, /^shop\|user=eve\|day:\d+$/);
    assert.deepEqual(body.descriptors[0]!.answer, { code: "OK", limitRemaining: 2 });
  });

  test("the debug port and SIGUSR2 change the log level", async () => {
    const put = (level: string) =>
      fetch(`http://${tollgate.debug}/log-level`, { method: "PUT", body: level });
    assert.equal((await put("info")).status, 200);
    assert.equal(await (await fetch(`http://${tollgate.debug}/log-level`)).text(), "info\n");
    assert.equal((await put("loud")).status, 400);
    tollgate.signal("SIGUSR2");
    await tollgate.logged(/log level set to debug by SIGUSR2/);
  });

  test("the command-line client prints the response, and its exit status shows the code", async () => {
    const run = (...args: string[]) => client(["-dial_string", tollgate.grpc, "-domain", "shop", ...args]);
    const first = await run("-descriptors", "user=bob", "-descriptors", "user=vip", "-repeat", "4", "-check");
    assert.equal(first.code, 3, first.stderr);
    assert.match(first.stdout, /user=bob {2}OK {10}2 of 3 per DAY left, resets in \d+ s/);
    assert.match(first.stdout, /user=vip {2}OK {10}unlimited/);
    assert.match(first.stdout, /4 calls: 3 OK, 1 OVER_LIMIT\n$/);
    const look = await run("-descriptors", "user=carl", "-hits", "0", "-json");
    assert.equal(look.code, 0);
    assert.equal(JSON.parse(look.stdout).statuses[0].limitRemaining, 3);
    const nowhere = await client([
      "-dial_string",
      "127.0.0.1:1",
      "-domain",
      "d",
      "-descriptors",
      "a=b",
      "-timeout",
      "2s",
    ]);
    assert.equal(nowhere.code, 1);
    assert.match(nowhere.stderr, /check that the service listens on 127\.0\.0\.1:1/);
    assert.equal((await client(["-domain", "d"])).code, 2);
  });
});

describe("start and end", () => {
  test("json logs; SIGINT exits with 0", async () => {
    const tollgate = await startTollgate({
      config: { "a.yaml": "domain: a\ndescriptors: []\n" },
      env: { LOG_FORMAT: "json", LOG_LEVEL: "debug" },
    });
    const { code } = await tollgate.stop("SIGINT");
    assert.equal(code, 0);
    for (const line of tollgate.log) {
      const entry = JSON.parse(line);
      assert.deepEqual(Object.keys(entry), ["@message", "@timestamp", "level"]);
    }
    assert.ok(tollgate.log.some((line) => line.includes("Listening for gRPC on '127.0.0.1:")));
  });

  const notStarting: [string, Record<string, string>, RegExp][] = [
    [
      "bad settings, all at once",
      { PORT: "80x", LOG_LEVEL: "loud", NEAR_LIMIT_RATIO: "2" },
      /PORT="80x"[\s\S]*LOG_LEVEL="loud"|LOG_LEVEL="loud"[\s\S]*PORT="80x"/,
    ],
    [
      "a debug host that is not this machine's",
      { DEBUG_HOST: "192.0.2.1" },
      /cannot listen for debug on 192\.0\.2\.1:0/,
    ],
    ["a host that is not this machine's", { HOST: "192.0.2.1" }, /cannot listen for HTTP on 192\.0\.2\.1:0/],
  ];
  for (const [name, env, message] of notStarting) {
    test(`${name}: one clear message, exit status 1, no stack trace`, async () => {
      const tollgate = await startTollgate({
        config: { "a.yaml": "domain: a\ndescriptors: []\n" },
        env,
        unopened: true,
      });
      const { code } = await tollgate.stop("SIGCONT");
      assert.equal(code, 1);
      const text = tollgate.log.join("\n");
      assert.match(text, message);
      assert.doesNotMatch(text, /\n\s+at /);
      // No line about the end of a service that never ran.
      assert.doesNotMatch(text, /termination/);
    });
  }

  test("with a bad first configuration the debug port is open, the other ports are closed, and SIGTERM exits at once", async () => {
    const tollgate = await startTollgate({
      config: { "a.yaml": "domain: a\ndescriptors:\n  - kye: x\n" },
      unopened: true,
    });
    await tollgate.logged(/a\.yaml:3:5.*kye.*key.* \(docs: rules\.md#unknown-key\)/);
    assert.equal((await fetch(`http://${tollgate.debug}/rlconfig`)).status, 200);
    assert.throws(() => tollgate.grpc, /no listener for gRPC yet/);
    assert.equal((await tollgate.stop()).code, 0);
  });

  test("with FORCE_START_WITHOUT_INITIAL_CONFIG calls get UNAVAILABLE until rules load", async () => {
    const tollgate = await startTollgate({
      config: { "a.yaml": "nonsense" },
      env: { FORCE_START_WITHOUT_INITIAL_CONFIG: "true" },
    });
    const caller = new GrpcCaller(tollgate.grpc);
    await assert.rejects(caller.ask(request("a", descriptor("k=v"))), {
      code: 14,
      details: "no rate limit configuration loaded",
    });
    const body = JSON.stringify({ domain: "a", descriptors: [{}] });
    assert.equal((await fetch(`http://${tollgate.http}/json`, { method: "POST", body })).status, 503);
    caller.close();
    assert.equal((await tollgate.stop()).code, 0);
  });

  test("commands: help, version, and a clear message for an unknown one", async () => {
    const help = await run(["--help"]);
    assert.equal(help.code, 0);
    assert.match(help.stdout, /serve[\s\S]*client[\s\S]*check[\s\S]*explain/);
    assert.match((await run(["--version"])).stdout, /^tollgate \d+\.\d+\.\d+\n$/);
    assert.match((await run(["serve", "--help"])).stdout, /RUNTIME_ROOT/);
    assert.match((await run(["-v"])).stdout, /^tollgate \d/);
    assert.match((await run(["help", "check"])).stdout, /^usage: tollgate check /);
    for (const args of [
      ["sevre"],
      ["serve", "--nonsense"],
      ["client"],
      ["check"],
      ["explain"],
      ["help", "me"],
      ["man", "x"],
    ]) {
      const { code, stderr } = await run(args);
      assert.equal(code, 2, args.join(" "));
      assert.match(stderr, /See tollgate /);
    }
  });
});

const command = fileURLToPath(new URL("../bin/tollgate.mjs", import.meta.url));

async function run(args: readonly string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  const child = spawn(process.execPath, [command, ...args], {
    env: bareEnvironment,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let [stdout, stderr] = ["", ""];
  child.stdout.on("data", (chunk) => (stdout += chunk));
  child.stderr.on("data", (chunk) => (stderr += chunk));
  const [code] = await once(child, "close");
  return { code, stdout, stderr };
}

function client(args: readonly string[]) {
  return run(["client", ...args]);
}

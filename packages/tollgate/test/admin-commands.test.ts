/** `tollgate counters`, `tollgate overrides` and `tollgate audit` against a running service. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { ALICE, adminAddress, adminEnv } from "./admin-support.ts";
import { descriptor, GrpcCaller, request } from "./grpc-caller.ts";
import { temporaryFolder } from "./servers/process.ts";
import { bareEnvironment, type RunningTollgate, startTollgate } from "./tollgate.ts";

const bin = fileURLToPath(new URL("../bin/tollgate.mjs", import.meta.url));
const config = {
  "d.yaml": `
domain: d
descriptors:
  - { key: tenant, rate_limit: { unit: day, requests_per_unit: 4 } }
  - key: list
    rate_limits: [{ requests_per_unit: 4, unit: day }, { requests_per_unit: 9, unit: year, name: yearly }]
`,
};

interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

function run(args: readonly string[], env: Readonly<Record<string, string>>): Promise<Ended> {
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      [bin, ...args],
      { env: { ...bareEnvironment, ...env } },
      (error, stdout, stderr) => {
        resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr });
      },
    );
  });
}

describe("the commands of an operator", () => {
  let tollgate: RunningTollgate;
  let caller: GrpcCaller;
  let env: Readonly<Record<string, string>>;
  const tollgateDoes = (text: string) => run(text.split(" "), env);
  const hit = async (text: string, times: number) => {
    let passed = 0;
    for (let time = 0; time < times; time++)
      if ((await caller.ask(request("d", descriptor(text)))).overallCode === 1) passed += 1;
    return passed;
  };

  before(async () => {
    tollgate = await startTollgate({ config, env: adminEnv });
    caller = new GrpcCaller(tollgate.grpc);
    env = { TOLLGATE_ADMIN: adminAddress(tollgate), TOLLGATE_ADMIN_TOKEN: ALICE };
  });
  after(async () => {
    caller.close();
    await tollgate.stop();
  });

  test("get, ls, reset and grant", async () => {
    assert.equal(await hit("tenant=acme", 6), 4);
    const target = "-domain d -descriptor tenant=acme";
    assert.match(
      (await tollgateDoes(`counters get ${target}`)).stdout,
      /^d tenant=acme\n {2}6 of 4 per 86400 s, 0 left, until \d{4}-\d\d-\d\dT00:00:00Z\n$/,
    );
    assert.match(
      (await tollgateDoes("counters ls -domain d -prefix tenant=a")).stdout,
      /^d tenant=acme {2}6 of 4 /,
    );
    const reset = await tollgateDoes(`counters reset ${target} -reason typo`);
    assert.match(reset.stdout, /^reset \(before: 6\)\nd tenant=acme\n {2}0 of 4 /);
    assert.equal(await hit("tenant=acme", 6), 4);
    const granted = await tollgateDoes(`counters grant ${target} -hits 10`);
    assert.match(
      granted.stdout,
      /^granted 10 \(before: 6\)\n.*\n {2}6 of 14 .*8 left.*\n {2}note: limit 4, raised to 14 until/,
    );
    assert.equal(await hit("tenant=acme", 10), 8);
    const json = JSON.parse((await tollgateDoes(`counters get ${target} --json`)).stdout);
    assert.equal(json.limits[0].limit, 14);
  });

  test("overrides, and the audit log", async () => {
    const set = await tollgateDoes(
      "overrides set big -domain d -descriptor list=a -limit yearly -requests-per-unit 90 -for 2h -reason sale",
    );
    assert.match(
      set.stdout,
      /^big {2}d list=a {2}yearly: limit 9, raised to 90 until .* by override big of alice \(sale\)\n$/,
    );
    assert.match((await tollgateDoes("overrides ls")).stdout, /^big {2}d list=a {2}yearly/m);
    assert.match((await tollgateDoes("overrides rm big")).stdout, /^removed big/);
    assert.equal(
      (await tollgateDoes("overrides set free -domain d -descriptor tenant=b -unlimited")).code,
      0,
    );
    assert.equal(await hit("tenant=b", 9), 9);
    const { stdout } = await tollgateDoes("audit -most 2");
    assert.equal(stdout.split("\n").length, 3);
    assert.match(stdout, /^\S+Z {2}alice {2}overrides\.set .*\n\S+Z {2}alice {2}overrides\.remove/);
  });

  test("faults end with 1, wrong flags with 2", async () => {
    for (const [text, code, expected] of [
      ["counters get -domain d -descriptor missing=a", 1, /404: no limit: no rule/],
      ["overrides rm missing", 1, /404: there is no override or grant missing/],
      [
        "overrides set x -domain d -descriptor tenant=a",
        1,
        /400: requestsPerUnit or unlimited must be given/,
      ],
      [
        "counters get -domain d -descriptor tenant=a -admin 127.0.0.1:1",
        1,
        /cannot call http:\/\/127.0.0.1:1: ECONNREFUSED/,
      ],
      ["audit -token-file /missing", 1, /cannot read \/missing: ENOENT/],
      ["counters", 2, /pass one of get, ls, reset, grant/],
      ["counters set", 2, /unknown subcommand "set"/],
      ["counters get -domain d", 2, /-descriptor is missing/],
      ["counters get -domain d -descriptor a=b -hits 1", 2, /-hits has no meaning for counters get/],
      ["counters grant -domain d -descriptor a=b", 2, /-hits is missing/],
      ["overrides rm", 2, /pass one id/],
      [
        "overrides set x -domain d -descriptor a=b -expires 2030-01-01T00:00:00Z -for 1h",
        2,
        /must not be given together/,
      ],
      ["overrides set x -domain d -descriptor a=b -for soon", 2, /-for soon: must be a duration/],
      ["audit -most 0", 2, /-most 0: must be a whole number, 1 or more/],
      ["audit x", 2, /unexpected argument "x"/],
      ["audit -admin http://user@host", 2, /must be host:port/],
      ["audit -cert-file x", 2, /must be given together/],
    ] as const) {
      const ended = await tollgateDoes(text);
      assert.equal(ended.code, code, text + ended.stderr);
      assert.match(ended.stderr, expected, text);
    }
    const stranger = await run(["audit"], { TOLLGATE_ADMIN: env.TOLLGATE_ADMIN! });
    assert.equal(stranger.code, 1);
    assert.match(stranger.stderr, /401: the request has no valid credential/);
    const other = await run(["audit", "-admin", tollgate.debug], env);
    assert.match(other.stderr, /404/);
  });

  test("a token from a file, also with the name before it", async () => {
    const folder = temporaryFolder("token");
    try {
      for (const text of [`${ALICE}\n`, `alice:${ALICE}`]) {
        await writeFile(join(folder, "token"), text);
        const given = ["audit", "-token-file", join(folder, "token")];
        assert.equal((await run(given, { TOLLGATE_ADMIN: env.TOLLGATE_ADMIN! })).code, 0);
      }
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});

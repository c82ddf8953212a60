/** The recipes of `deploy/envoy`, each in a real Envoy with a real Tollgate. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { certificates } from "../test/servers/certificates.ts";
import { startTollgate } from "../test/tollgate.ts";
import { Gateway, type GatewayOptions } from "./gateway.ts";
import { deployFile, type RecipeOptions, recipeConfig } from "./recipe.ts";

const UNUSED = "";

interface Started {
  readonly gateway: Gateway;
  readonly tollgate: Awaited<ReturnType<typeof startTollgate>>;
}

/** Starts Tollgate with the rules, Envoy with the recipe, and runs `use`. */
async function withRecipe(
  {
    recipe,
    rules,
    env = {},
    options = {},
    upstream,
  }: {
    readonly recipe: string;
    readonly rules: string;
    readonly env?: Readonly<Record<string, string>>;
    readonly options?: RecipeOptions;
    readonly upstream?: GatewayOptions["upstream"];
  },
  use: (started: Started) => Promise<void>,
): Promise<void> {
  const config = { "rules.yaml": deployFile(`${rules}.yaml`) };
  const tollgate = await startTollgate({ config, env });
  try {
    const replicas = env.GRPC_UDS === undefined ? [tollgate.grpc] : [];
    await using gateway = await Gateway.start({
      rateLimitService: UNUSED,
      config: recipeConfig(`${recipe}.yaml`, { replicas, healthInterval: "0.2s", ...options }),
      ...(upstream !== undefined && { upstream }),
    });
    await use({ gateway, tollgate });
  } finally {
    await tollgate.stop();
  }
}

async function statuses(gateway: Gateway, count: number, path: string, headers: Record<string, string> = {}) {
  const all: number[] = [];
  while (all.length < count) all.push((await gateway.get(path, headers)).status);
  return all;
}

describe("deploy/envoy/http-filter.yaml", () => {
  const recipe = { recipe: "envoy/http-filter", rules: "envoy/rules/http-filter" };

  test("limits hold, with headers; a route costs more, one is not limited, one is in shadow mode", () =>
    withRecipe(recipe, async ({ gateway, tollgate }) => {
      const first = await gateway.get("/", { "x-user": "ann" });
      assert.equal(first.status, 200);
      assert.equal(first.headers["x-ratelimit-limit"], "8, 8;w=86400");
      assert.equal(first.headers["x-ratelimit-remaining"], "7");
      assert.match(first.headers["x-ratelimit-reset"] as string, /^\d+$/);
      assert.deepEqual(await statuses(gateway, 8, "/", { "x-user": "ann" }), [...Array(7).fill(200), 429]);
      // Five hits each.
      assert.deepEqual(await statuses(gateway, 2, "/report", { "x-user": "bob" }), [200, 429]);
      assert.deepEqual(await statuses(gateway, 3, "/health", { "x-user": "ann" }), [200, 200, 200]);
      assert.deepEqual(await statuses(gateway, 3, "/beta"), [200, 200, 200]);
      const page = await (await fetch(`http://${tollgate.debug}/stats`)).text();
      assert.match(page, /ratelimit\.service\.rate_limit\.edge\.area_beta\.shadow_mode: 2\n/);
    }));

  for (const [failureModeDeny, status] of [
    [true, 500],
    [false, 200],
  ] as const)
    test(`failure_mode_deny: ${failureModeDeny}: requests get ${status} while no replica answers`, () =>
      withRecipe({ ...recipe, options: { failureModeDeny } }, async ({ gateway, tollgate }) => {
        assert.equal((await gateway.get("/", { "x-user": "ann" })).status, 200);
        await tollgate.stop();
        assert.equal((await gateway.get("/", { "x-user": "ann" })).status, status);
      }));

  test("a health check takes an unhealthy replica out of the cluster before its port closes", () =>
    withRecipe({ ...recipe, env: { DRAIN_DELAY: "60s" } }, async ({ gateway, tollgate }) => {
      await gateway.stat("cluster.ratelimit.membership_healthy", (value) => value === 1);
      tollgate.signal("SIGTERM");
      await gateway.stat("cluster.ratelimit.health_check.failure", (value) => value > 0);
      await gateway.stat("cluster.ratelimit.membership_healthy", (value) => value === 0);
      await tollgate.stop("SIGKILL");
    }));
});

test("deploy/envoy/minimal.yaml: limits requests, and refuses them when Tollgate is stopped", () =>
  withRecipe({ recipe: "envoy/minimal", rules: "envoy/rules/minimal" }, async ({ gateway, tollgate }) => {
    assert.deepEqual(await statuses(gateway, 4, "/login"), [200, 200, 200, 429]);
    assert.deepEqual(await statuses(gateway, 1, "/"), [200]);
    await tollgate.stop();
    assert.deepEqual(await statuses(gateway, 1, "/"), [500]);
  }));

test("deploy/envoy/network-filter.yaml: connections above the limit are closed", () =>
  withRecipe({ recipe: "envoy/network-filter", rules: "envoy/rules/network-filter" }, async ({ gateway }) => {
    const answers: string[] = [];
    for (let connection = 0; connection < 3; connection++) {
      const [host, port] = gateway.address.split(":");
      const socket = connect(Number(port), host);
      socket.on("error", () => undefined);
      socket.end("GET / HTTP/1.0\r\n\r\n");
      let text = "";
      socket.setEncoding("utf8").on("data", (chunk: string) => {
        text += chunk;
      });
      await new Promise((resolve) => socket.once("close", resolve));
      answers.push(text.slice(0, 12));
    }
    assert.deepEqual(answers, ["HTTP/1.1 200", "HTTP/1.1 200", ""]);
  }));

test("deploy/envoy/unix-socket.yaml: limits hold over a unix socket", async () => {
  const folder = mkdtempSync(join(tmpdir(), "tollgate-uds-"));
  const socket = join(folder, "grpc.sock");
  const options = { files: { "/run/tollgate/grpc.sock": socket } };
  try {
    await withRecipe(
      {
        recipe: "envoy/unix-socket",
        rules: "envoy/rules/http-filter",
        env: { GRPC_UDS: socket, GRPC_HOST: "", GRPC_PORT: "" },
        options,
      },
      async ({ gateway }) => {
        assert.deepEqual(await statuses(gateway, 9, "/", { "x-user": "ann" }), [...Array(8).fill(200), 429]);
      },
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("deploy/envoy/mtls.yaml: limits hold over mutual TLS, with health checks", () => {
  const { ca, server, serverKey, client, clientKey } = certificates();
  const env = {
    GRPC_SERVER_USE_TLS: "true",
    GRPC_SERVER_TLS_CERT: server,
    GRPC_SERVER_TLS_KEY: serverKey,
    GRPC_CLIENT_TLS_CACERT: ca,
  };
  const files = { "/certs/ca.pem": ca, "/certs/client.pem": client, "/certs/client.key": clientKey };
  return withRecipe(
    { recipe: "envoy/mtls", rules: "envoy/rules/http-filter", env, options: { files } },
    async ({ gateway }) => {
      await gateway.stat("cluster.ratelimit.health_check.success", (value) => value > 0);
      assert.deepEqual(await statuses(gateway, 9, "/", { "x-user": "ann" }), [...Array(8).fill(200), 429]);
    },
  );
});

test("deploy/envoy/post-response.yaml: the cost in the answer counts after the answer", () =>
  withRecipe(
    {
      recipe: "envoy/post-response",
      rules: "envoy/rules/post-response",
      upstream: (_, response) => response.setHeader("x-tokens", "60").end("answer"),
    },
    async ({ gateway, tollgate }) => {
      const ask = async () => (await gateway.get("/", { "x-user": "ann" })).status;
      // The report of an answer's cost is a call of its own, which the next request does not wait for.
      const counted = async (total: number) => {
        const line = `ratelimit.service.rate_limit.tokens.user.total_hits: ${total}\n`;
        while (!(await (await fetch(`http://${tollgate.debug}/stats`)).text()).includes(line));
      };
      assert.equal(await ask(), 200);
      await counted(60);
      assert.equal(await ask(), 200);
      await counted(120);
      assert.equal(await ask(), 429);
    },
  ));

test("deploy/envoy-gateway: limits of a route and a rule, as Envoy Gateway generates them", () =>
  withRecipe({ recipe: "envoy-gateway/envoy", rules: "envoy-gateway/rules" }, async ({ gateway }) => {
    assert.deepEqual(await statuses(gateway, 4, "/", { "x-user-id": "ann" }), [200, 200, 200, 429]);
    assert.deepEqual(await statuses(gateway, 2, "/admin", { "x-org-id": "admin" }), [200, 200]);
    assert.deepEqual(await statuses(gateway, 2, "/admin"), [200, 429]);
  }));

test("deploy/ai-gateway: two token budgets are charged after the answer", () =>
  withRecipe(
    {
      recipe: "ai-gateway/envoy",
      rules: "ai-gateway/rules",
      upstream: (_, response) =>
        response.setHeader("x-tokens", "40").setHeader("x-total-tokens", "400").end("{}"),
    },
    async ({ gateway, tollgate }) => {
      const hits = async () => {
        const page = await (await fetch(`http://${tollgate.debug}/stats`)).text();
        return [0, 1].map((rule) =>
          Number(new RegExp(`rule-${rule}-match-0\\.total_hits: (\\d+)`).exec(page)?.[1] ?? 0),
        );
      };
      const user = { "x-user-id": "ann" };
      for (const total of [40, 80, 120]) {
        assert.deepEqual(await statuses(gateway, 1, "/", user), [200]);
        while ((await hits())[0] !== total || (await hits())[1] !== total * 10);
      }
      assert.deepEqual(await statuses(gateway, 1, "/", user), [429]);
    },
  ));

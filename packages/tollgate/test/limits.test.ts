import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { createServer as createTcpServer } from "node:net";
import { after, before, describe, test } from "node:test";
import { createLimits, type LimitsOptions } from "@tollway/tollgate/limits";
import { Application, Controller } from "@tollway/waymark";
import { scaled } from "../../../tools/time-scale.ts";
import { Authority } from "./authority.ts";
import { type RunningTollgate, startTollgate } from "./tollgate.ts";

const config = {
  "shop.yaml": `
domain: shop
descriptors:
  - key: user
    rate_limit: { unit: day, requests_per_unit: 2 }
  - key: plan
    value: free
    rate_limit: { unit: day, requests_per_unit: 5 }
  - key: remote_address
    rate_limit: { unit: day, requests_per_unit: 1 }
`,
};

/** Starts a Waymark application with one limited method, and calls `use` with an HTTP client of it. */
async function withApplication(
  options: Omit<LimitsOptions, "domain">,
  use: (ask: (path: string) => Promise<Response>, log: readonly string[]) => Promise<void>,
): Promise<void> {
  const log: string[] = [];
  // The default timeout of 250 ms lets requests pass on a slow machine.
  const timeout = scaled(5000);
  const limits = createLimits({ domain: "shop", log: (line) => log.push(line), timeout, ...options });
  class Orders extends Controller {
    override before() {
      const { hits = "1", ...values } = this.keywords as Record<string, string>;
      const descriptors = Object.entries(values).map(([key, value]) => ({ [key]: value }));
      return limits.check(this, descriptors, Number(hits));
    }
    GET({ ...rest }) {
      return { served: true, asked: Object.keys(rest).length };
    }
  }
  class Address extends Controller {
    override before() {
      return limits.check(this, { remote_address: this.remoteAddress });
    }
    GET() {
      return new Response("plain", { headers: { "x-own": "1" } });
    }
  }
  const application = new Application({
    controllers: { Orders, Address },
    unknownKeywords: "ignore",
    log: () => undefined,
  });
  const server = createServer(application.listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  try {
    await use((path) => fetch(`http://127.0.0.1:${port}${path}`), log);
  } finally {
    limits.close();
    server.closeAllConnections();
    server.close();
    await application.stop();
  }
}

const rateHeaders = ({ headers }: Response) =>
  ["ratelimit-limit", "ratelimit-remaining"].map((name) => headers.get(name));

describe("a Waymark method with limits of a Tollgate", () => {
  let tollgate: RunningTollgate;
  before(async () => {
    tollgate = await startTollgate({ config });
  });
  after(async () => {
    assert.equal((await tollgate.stop()).code, 0, tollgate.log.join("\n"));
  });

  test("passes with RateLimit headers, and is refused with 429 problem details", async () => {
    await withApplication({ address: tollgate.grpc }, async (ask, log) => {
      const first = await ask("/orders?user=ann");
      assert.equal(first.status, 200);
      assert.deepEqual(await first.json(), { served: true, asked: 1 });
      assert.deepEqual(rateHeaders(first), ["2", "1"]);
      assert.match(first.headers.get("ratelimit-reset") ?? "", /^\d+$/);
      await ask("/orders?user=ann");
      const third = await ask("/orders?user=ann");
      assert.equal(third.status, 429);
      assert.equal(third.headers.get("content-type"), "application/problem+json");
      assert.deepEqual(rateHeaders(third), ["2", "0"]);
      assert.match(third.headers.get("retry-after") ?? "", /^\d+$/);
      const problem = (await third.json()) as { title: string; status: number; detail: string };
      assert.equal(problem.status, 429);
      assert.match(problem.detail, /^the limit of 2 requests per day is exceeded; try again in \d+ s$/);
      assert.equal((await ask("/orders?user=bob")).status, 200);
      assert.deepEqual(log, []);
    });
  });

  test("several descriptors and hits: the tightest limit is shown, 0 hits read without counting", async () => {
    await withApplication({ address: tollgate.grpc }, async (ask) => {
      assert.deepEqual(rateHeaders(await ask("/orders?user=kim&plan=free&hits=2")), ["2", "0"]);
      assert.deepEqual(rateHeaders(await ask("/orders?plan=free&hits=3")), ["5", "0"]);
      assert.equal((await ask("/orders?plan=free&hits=0")).status, 200);
      assert.equal((await ask("/orders?plan=free")).status, 429);
    });
  });

  test("the headers are added to a returned Response; a descriptor is one line", async () => {
    await withApplication({ address: tollgate.grpc }, async (ask) => {
      const first = await ask("/address");
      assert.equal(await first.text(), "plain");
      assert.equal(first.headers.get("x-own"), "1");
      assert.deepEqual(rateHeaders(first), ["1", "0"]);
      assert.equal((await ask("/address")).status, 429);
    });
  });

  test("without a rule there is no limit and no header", async () => {
    await withApplication({ address: tollgate.grpc }, async (ask) => {
      const answer = await ask("/orders?plan=gold");
      assert.equal(answer.status, 200);
      assert.deepEqual(rateHeaders(answer), [null, null]);
    });
  });

  test("the headers of draft 10: each limit with its policy, and Retry-After", async () => {
    await withApplication({ address: tollgate.grpc, headers: "draft-10" }, async (ask) => {
      const one = await ask("/orders?user=drafted&plan=free");
      assert.equal(one.headers.get("ratelimit-policy"), '"user";q=2;w=86400, "plan";q=5;w=86400');
      assert.match(one.headers.get("ratelimit")!, /^"user";r=1;t=\d+, "plan";r=\d;t=\d+$/);
      assert.equal(one.headers.get("ratelimit-limit"), null);
      await ask("/orders?user=drafted");
      const refused = await ask("/orders?user=drafted");
      assert.equal(refused.status, 429);
      assert.match(refused.headers.get("ratelimit")!, /^"user";r=0;t=\d+$/);
      assert.ok(Number(refused.headers.get("retry-after")) > 0);
    });
    const odd = { domain: "d", headers: "draft-9" } as unknown as LimitsOptions;
    assert.throws(() => createLimits(odd), /headers must be "separate" or "draft-10"/);
  });

  test("an undefined value counts as an empty one", async () => {
    const limits = createLimits({ domain: "shop", address: tollgate.grpc, timeout: scaled(5000) });
    const caller = { response: { headers: new Headers() } };
    await limits.check(caller, { user: undefined });
    await limits.check(caller, { user: "" });
    await assert.rejects(limits.check(caller, { user: undefined }), { status: 429 });
    limits.close();
  });
});

test("a service's own headers are passed on, over TLS with a client certificate", async () => {
  const authority = new Authority();
  const server = authority.issue("server", "DNS:tollgate.test");
  const pair = authority.issue("client", "DNS:app.test");
  const tollgate = await startTollgate({
    config,
    env: {
      GRPC_SERVER_USE_TLS: "true",
      GRPC_SERVER_TLS_CERT: server.cert,
      GRPC_SERVER_TLS_KEY: server.key,
      GRPC_CLIENT_TLS_CACERT: authority.cert,
      LIMIT_RESPONSE_HEADERS_ENABLED: "true",
      LIMIT_RESPONSE_HEADERS_FORMAT: "draft-10",
    },
  });
  try {
    const tls = { ca: authority.pem, cert: pair.certPem, key: pair.keyPem, serverName: "tollgate.test" };
    await withApplication({ address: tollgate.grpc, tls, timeout: scaled(5000) }, async (ask) => {
      const passed = await ask("/orders?user=eve");
      assert.match(passed.headers.get("ratelimit") ?? "", /;r=1;t=\d+/);
      assert.equal(passed.headers.get("ratelimit-limit"), null);
      await ask("/orders?user=eve");
      const refused = await ask("/orders?user=eve");
      assert.equal(refused.status, 429);
      assert.match(refused.headers.get("retry-after") ?? "", /^\d+$/);
    });
  } finally {
    await tollgate.stop();
    authority.remove();
  }
});

describe("a Tollgate that does not answer", () => {
  test("open: requests pass, with one log line; closed: requests get 503", async () => {
    const tollgate = await startTollgate({ config });
    const address = tollgate.grpc;
    await withApplication({ address, timeout: scaled(2000) }, async (ask, log) => {
      assert.equal((await ask("/orders?user=zoe")).status, 200);
      await tollgate.stop();
      for (let call = 0; call < 3; call++) {
        const answer = await ask("/orders?user=zoe");
        assert.equal(answer.status, 200);
        assert.deepEqual(rateHeaders(answer), [null, null]);
      }
      assert.equal(log.length, 1);
      assert.match(
        log[0]!,
        /^the rate limits cannot be checked, requests are allowed without a limit: Tollgate at /,
      );
      const back = await startTollgate({ config, env: { GRPC_PORT: address.split(":").at(-1)! } });
      try {
        const limited = async () => rateHeaders(await ask("/orders?user=zoe"))[0] !== null;
        while (!(await limited())) await new Promise((resolve) => setTimeout(resolve, 50));
        assert.deepEqual(log.slice(1), ["the rate limits are checked again"]);
      } finally {
        await back.stop();
      }
    });
    await withApplication({ address, failure: "closed" }, async (ask) => {
      const answer = await ask("/orders?user=zoe");
      assert.equal(answer.status, 503);
      assert.equal(answer.headers.get("retry-after"), "1");
      const text = await answer.text();
      assert.match(text, /the rate limits cannot be checked at the moment/);
      assert.doesNotMatch(text, /127\.0\.0\.1|ECONN/);
    });
  });

  test("a service that accepts and never answers delays a request by the timeout only", async () => {
    const sockets: Socket[] = [];
    const silent = createTcpServer((socket) => sockets.push(socket.on("error", () => undefined)));
    await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
    const { port } = silent.address() as AddressInfo;
    try {
      await withApplication({ address: `127.0.0.1:${port}`, timeout: scaled(30) }, async (ask, log) => {
        assert.equal((await ask("/orders?user=x")).status, 200);
        assert.equal(log.length, 1);
      });
    } finally {
      for (const socket of sockets) socket.destroy();
      silent.close();
    }
  });

  const wrong: [Record<string, unknown>, RegExp][] = [
    [{}, /domain must be the name/],
    [{ domain: "" }, /domain must be the name/],
    [{ domain: "d", timeout: 0 }, /timeout must be a number of milliseconds above 0, not 0/],
    [{ domain: "d", failure: "ajar" }, /failure must be "open" or "closed", not "ajar"/],
  ];
  for (const [options, message] of wrong) {
    test(`options ${JSON.stringify(options)} are refused`, () => {
      assert.throws(() => createLimits(options as unknown as LimitsOptions), message);
    });
  }
});

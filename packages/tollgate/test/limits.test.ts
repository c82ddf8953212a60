import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { createServer as createTcpServer } from "node:net";
import { after, before, describe, test } from "node:test";
import { createLimits, type LimitsOptions } from "@tollway/tollgate/limits";
import { Application, Controller } from "@tollway/waymark";
import { scaled } from "../../../tools/time-scale.ts";
import { createLimits as createWebLimits } from "../src/limits-web.ts";
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

/** The addresses of a service: both ports decide alike. */
const PORTS: Readonly<Record<string, (tollgate: RunningTollgate) => string>> = {
  gRPC: ({ grpc }) => grpc,
  HTTP: ({ http }) => `http://${http}`,
};

for (const [port, addressOf] of Object.entries(PORTS))
  describe(`a Waymark method with limits of a Tollgate, over ${port}`, () => {
    let tollgate: RunningTollgate;
    let address: string;
    before(async () => {
      tollgate = await startTollgate({ config });
      address = addressOf(tollgate);
    });
    after(async () => {
      assert.equal((await tollgate.stop()).code, 0, tollgate.log.join("\n"));
    });

    test("passes with RateLimit headers, and is refused with 429 problem details", async () => {
      await withApplication({ address }, async (ask, log) => {
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
      await withApplication({ address }, async (ask) => {
        assert.deepEqual(rateHeaders(await ask("/orders?user=kim&plan=free&hits=2")), ["2", "0"]);
        assert.deepEqual(rateHeaders(await ask("/orders?plan=free&hits=3")), ["5", "0"]);
        assert.equal((await ask("/orders?plan=free&hits=0")).status, 200);
        assert.equal((await ask("/orders?plan=free")).status, 429);
      });
    });

    test("the headers are added to a returned Response; a descriptor is one line", async () => {
      await withApplication({ address }, async (ask) => {
        const first = await ask("/address");
        assert.equal(await first.text(), "plain");
        assert.equal(first.headers.get("x-own"), "1");
        assert.deepEqual(rateHeaders(first), ["1", "0"]);
        assert.equal((await ask("/address")).status, 429);
      });
    });

    test("without a rule there is no limit and no header", async () => {
      await withApplication({ address }, async (ask) => {
        const answer = await ask("/orders?plan=gold");
        assert.equal(answer.status, 200);
        assert.deepEqual(rateHeaders(answer), [null, null]);
      });
    });

    test("the headers of draft 10: each limit with its policy, and Retry-After", async () => {
      await withApplication({ address, headers: "draft-10" }, async (ask) => {
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
      const limits = createLimits({ domain: "shop", address, timeout: scaled(5000) });
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
  for (const [port, addressOf] of Object.entries(PORTS))
    test(`${port}, open: requests pass, with one log line; closed: requests get 503`, async () => {
      const tollgate = await startTollgate({ config });
      const address = addressOf(tollgate);
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
        const number = address.split(":").at(-1)!;
        const env: Record<string, string> = port === "gRPC" ? { GRPC_PORT: number } : { PORT: number };
        const back = await startTollgate({ config, env });
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

  for (const scheme of ["", "http://"])
    test(`a service that accepts and never answers delays a request by the timeout only: ${scheme}host:port`, async () => {
      const sockets: Socket[] = [];
      const silent = createTcpServer((socket) => sockets.push(socket.on("error", () => undefined)));
      await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
      const { port } = silent.address() as AddressInfo;
      try {
        await withApplication(
          { address: `${scheme}127.0.0.1:${port}`, timeout: scaled(30) },
          async (ask, log) => {
            assert.equal((await ask("/orders?user=x")).status, 200);
            assert.equal(log.length, 1);
          },
        );
      } finally {
        for (const socket of sockets) socket.destroy();
        silent.close();
      }
    });

  const ANSWERS: readonly [status: number, body: string, reason: string][] = [
    [400, '{"detail":"domain: must not be empty"}', "it answers with status 400: domain: must not be empty"],
    [502, "<html>", "it answers with status 502"],
    [200, "{}", "it answers with something that is not the response of a rate limit service"],
    [200, " ".repeat(2 ** 20 + 1), "its answer has more than 1048576 bytes"],
    [302, "", "it answers with status 302"],
  ];
  for (const [status, body, reason] of ANSWERS)
    test(`something else behind the address, which answers ${status} ${body.trim().slice(0, 20)}`, async () => {
      const other = createServer((_, response) => response.writeHead(status, { location: "/" }).end(body));
      await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
      const address = `http://127.0.0.1:${(other.address() as AddressInfo).port}`;
      try {
        await withApplication({ address, failure: "closed" }, async (ask, log) => {
          assert.equal((await ask("/orders?user=x")).status, 503);
          const meanwhile = "the rate limits cannot be checked, requests are answered with 503";
          assert.deepEqual(log, [`${meanwhile}: Tollgate at ${address}: ${reason}`]);
        });
      } finally {
        other.closeAllConnections();
        other.close();
      }
    });

  test("HTTP: closing the limits ends the calls in flight", async () => {
    const called = Promise.withResolvers<void>();
    const silent = createServer(() => called.resolve());
    await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
    const { port } = silent.address() as AddressInfo;
    const log: string[] = [];
    const limits = createLimits({
      domain: "shop",
      address: `http://127.0.0.1:${port}/limits`,
      timeout: 1e12,
      failure: "closed",
      log: (line) => log.push(line),
    });
    const check = () => limits.check({ response: { headers: new Headers() } }, { user: "x" });
    try {
      const waiting = check();
      await Promise.race([called.promise, waiting]);
      limits.close();
      await assert.rejects(waiting, { status: 503 });
      await assert.rejects(check(), { status: 503 });
      assert.match(log.join(), /^[^\n]*: the limits are closed$/);
    } finally {
      silent.closeAllConnections();
      silent.close();
    }
  });

  test("a runtime without the modules of Node refuses every address but that of an HTTP port", async () => {
    const tollgate = await startTollgate({ config });
    for (const address of [undefined, "localhost:8081", "unix:/run/tollgate.sock"])
      assert.throws(() => createWebLimits({ domain: "shop", ...(address && { address }) }), {
        name: "TypeError",
        message: `address must be that of Tollgate's HTTP port, such as "http://tollgate.internal:8080", not ${JSON.stringify(address)}: this runtime has no gRPC`,
      });
    const limits = createWebLimits({
      domain: "shop",
      address: `http://${tollgate.http}`,
      timeout: scaled(5000),
    });
    const caller = { response: { headers: new Headers() } };
    await limits.check(caller, { user: "web" });
    assert.equal(caller.response.headers.get("ratelimit-remaining"), "1");
    limits.close();
    await tollgate.stop();
  });

  const wrong: [Record<string, unknown>, RegExp][] = [
    [{}, /domain must be the name/],
    [{ domain: "" }, /domain must be the name/],
    [{ domain: "d", timeout: 0 }, /timeout must be a number of milliseconds above 0, not 0/],
    [{ domain: "d", failure: "ajar" }, /failure must be "open" or "closed", not "ajar"/],
    [{ domain: "d", address: "http://" }, /address must be a URL with a host, .* not "http:\/\/"/],
    [{ domain: "d", address: "http://u:p@h" }, /address must be a URL with a host/],
    [{ domain: "d", address: "https://h/?a" }, /address must be a URL with a host/],
    [{ domain: "d", address: "https://h", tls: {} }, /tls is for gRPC/],
  ];
  for (const [options, message] of wrong) {
    test(`options ${JSON.stringify(options)} are refused`, () => {
      assert.throws(() => createLimits(options as unknown as LimitsOptions), message);
    });
  }
});

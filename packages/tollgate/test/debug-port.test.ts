import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import { after, before, describe, test } from "node:test";
import { type RunningTollgate, startTollgate } from "./tollgate.ts";

const config = {
  "d.yaml": "domain: d\ndescriptors: [{ key: k, rate_limit: { unit: day, requests_per_unit: 3 } }]\n",
};

/** Sends bytes and reads until the server closes. */
async function raw(address: string, text: string): Promise<string> {
  const [host, port] = address.split(":");
  const socket = connect(Number(port), host);
  let answer = "";
  socket.setEncoding("latin1").on("data", (chunk: string) => {
    answer += chunk;
  });
  socket.write(text);
  await once(socket, "close");
  return answer;
}

const get = (path: string, ...headers: string[]): string =>
  `GET ${path} HTTP/1.1\r\n${["Connection: close", ...headers].join("\r\n")}\r\n\r\n`;

describe("HTTP, debug and metrics ports", () => {
  let tollgate: RunningTollgate;
  let ports: readonly (readonly [name: string, address: string, path: string])[];
  before(async () => {
    tollgate = await startTollgate({
      config,
      env: { DISABLE_STATS: "false", USE_PULLSTATS: "true", PULLSTATS_ADDR: "127.0.0.1:0" },
    });
    const line = await tollgate.logged(/Listening for metrics/);
    ports = [
      ["HTTP", tollgate.http, "/healthcheck"],
      ["debug", tollgate.debug, "/stats"],
      ["metrics", /on '([^']+)'/.exec(line)![1]!, "/metrics"],
    ];
  });
  after(async () => void (await tollgate.stop()));

  test("two Host headers are refused", async () => {
    for (const [name, address, path] of ports) {
      assert.match(await raw(address, get(path, `Host: ${address}`)), /^HTTP\/1\.1 200 /, name);
      const answer = await raw(address, get(path, `Host: ${address}`, `hOST: ${address}`));
      assert.match(answer, /^HTTP\/1\.1 400 /, name);
      assert.match(answer, /more than one Host header|does not name one host/, name);
    }
  });

  test("a request line without a version is refused", async () => {
    for (const [name, address, path] of ports)
      assert.match(
        await raw(address, `GET ${path}\r\nHost: ${address}\r\n\r\n`),
        /^HTTP\/1\.1 400 [\s\S]*has no HTTP version/,
        name,
      );
  });

  test("responses have X-Content-Type-Options: nosniff once", async () => {
    for (const [name, address, path] of ports)
      for (const each of [path, path, "/missing", "/missing"]) {
        const answer = await raw(address, get(each, `Host: ${address}`));
        assert.equal(answer.match(/^x-content-type-options: nosniff\r$/gim)?.length, 1, `${name} ${each}`);
      }
  });

  test("responses to requests of another HTTP version have it, too", async () => {
    for (const [name, address, path] of ports.filter(([each]) => each !== "metrics"))
      for (const version of ["", " HTTP/2.0"]) {
        const answer = await raw(address, `GET ${path}${version}\r\nHost: ${address}\r\n\r\n`);
        assert.match(answer, /^HTTP\/1\.1 (?:400|505) /, name);
        assert.equal(answer.match(/^x-content-type-options: nosniff\r$/gim)?.length, 1, `${name}${version}`);
      }
  });

  test("the debug port refuses names that a web page could rebind to it, and cross-origin requests", async () => {
    const { debug } = tollgate;
    for (const [headers, status] of [
      [[`Host: ${debug}`], 200],
      [["Host: localhost"], 200],
      [["Host: evil.example"], 403],
      [[`Host: ${debug}`, `Origin: http://${debug}`], 200],
      [[`Host: ${debug}`, "Origin: http://evil.example"], 403],
    ] as const) {
      const answer = await raw(debug, get("/log-level", ...headers));
      assert.equal(Number(answer.slice(9, 12)), status, `${headers}\n${answer}`);
      if (status === 403) {
        assert.match(answer, /content-type: application\/problem\+json/);
        assert.match(answer, /^x-content-type-options: nosniff\r$/im);
      }
    }
    const put = `PUT /log-level HTTP/1.1\r\nHost: ${debug}\r\nOrigin: http://evil.example\r\nConnection: close\r\nContent-Length: 5\r\n\r\ndebug`;
    assert.match(await raw(debug, put), /^HTTP\/1\.1 403 /);
    assert.match(await raw(debug, get("/log-level", `Host: ${debug}`)), /\r\n\r\nwarn\n$/);
  });
});

test("a missing page: the response names the nearest one, or the methods of the page", async () => {
  const tollgate = await startTollgate({ config });
  try {
    for (const [address, method, path, status, detail] of [
      [tollgate.http, "GET", "/helthcheck", 404, /did you mean \/healthcheck\?/],
      [tollgate.http, "POST", "/jsn", 404, /did you mean \/json\?/],
      [tollgate.http, "GET", "/json", 405, /POST/],
      [tollgate.debug, "GET", "/rlconfg", 404, /did you mean \/rlconfig\?/],
      [tollgate.debug, "PUT", "/explain", 405, /GET, POST/],
    ] as const) {
      const response = await fetch(`http://${address}${path}`, { method });
      assert.equal(response.status, status, path);
      assert.match(((await response.json()) as { detail: string }).detail, detail);
    }
  } finally {
    await tollgate.stop();
  }
});

describe("GET /explain", () => {
  let tollgate: RunningTollgate;
  before(async () => {
    const limit = "rate_limit: { unit: day, requests_per_unit: 3 }";
    const rules = `domain: d d\ndescriptors:\n  - { key: k, descriptors: [{ key: l, value: "a,b", ${limit} }] }\n`;
    tollgate = await startTollgate({ config: { "d.yaml": rules } });
  });
  after(async () => void (await tollgate.stop()));

  async function ask(query: string, headers = {}) {
    const response = await fetch(`http://${tollgate.debug}/explain${query}`, { headers });
    return { status: response.status, text: await response.text() };
  }

  /** Removes figures that change with time: a second, or at midnight a window, may pass between two responses. */
  const withoutTime = (text: string): string =>
    text
      .replace(/\d{4}-\d\d-\d\dT[\d:]+|\d{3,}/g, "N")
      .replace(/ends in \d+/g, "ends in N")
      .replace(/(econds?UntilReset|urationUntilReset)":\s*"?\d+/g, '$1":N');

  test("answers like POST", async () => {
    const descriptor = {
      entries: [
        { key: "k", value: "1" },
        { key: "l", value: "a,b" },
      ],
    };
    const body = JSON.stringify({
      domain: "d d",
      descriptors: [descriptor, { entries: [{ key: "x", value: "" }] }],
    });
    const query = "?domain=d%20d&descriptor=k=1,l=a%5C,b&descriptor=x=";
    for (const headers of [{}, { Accept: "application/json" }]) {
      const posted = await fetch(`http://${tollgate.debug}/explain`, { method: "POST", body, headers });
      const got = await ask(query, headers);
      assert.deepEqual([got.status, withoutTime(got.text)], [200, withoutTime(await posted.text())]);
      assert.match(got.text, /OK/);
    }
  });

  test("shows its usage without a query", async () => {
    const { status, text } = await ask("");
    assert.equal(status, 200);
    assert.match(text, /GET \/explain\?domain=DOMAIN&descriptor=KEY=VALUE[\s\S]*curl -d/);
  });

  for (const [query, problem] of [
    ["?domain=d", /descriptor: is missing: descriptor=KEY=VALUE/],
    ["?descriptor=k=1", /domain: must be given once/],
    ["?domain=&descriptor=k=1", /domain: must be given once/],
    ["?domain=a&domain=b&descriptor=k=1", /domain: must be given once/],
    ["?domain=d&descriptor=k", /\\"k\\" is not a key=value pair/],
    ["?domain=d&descriptor==v", /\\"=v\\" is not a key=value pair/],
  ] as const)
    test(`names the fault of ${query}`, async () => {
      const { status, text } = await ask(query);
      assert.equal(status, 400, text);
      assert.match(text, problem);
    });
});

test("DEBUG_ALLOWED_HOSTS, DEBUG_PROFILES and DEBUG_WRITES", async () => {
  const tollgate = await startTollgate({
    config,
    env: { DEBUG_ALLOWED_HOSTS: "tollgate.example", DEBUG_PROFILES: "false", DEBUG_WRITES: "false" },
  });
  try {
    const { debug } = tollgate;
    const index = await raw(debug, get("/", "Host: tollgate.example"));
    assert.match(index, /^HTTP\/1\.1 200 /);
    assert.doesNotMatch(index, /pprof|PUT/);
    for (const page of ["", "heap", "profile", "wall", "trace"]) {
      const response = await fetch(`http://${debug}/debug/pprof/${page}`);
      assert.equal(response.status, 403, page);
      assert.match(await response.text(), /DEBUG_PROFILES/);
    }
    const response = await fetch(`http://${debug}/log-level`, { method: "PUT", body: "debug" });
    assert.equal(response.status, 403);
    assert.match(await response.text(), /DEBUG_WRITES/);
    assert.equal(await (await fetch(`http://${debug}/log-level`)).text(), "warn\n");
  } finally {
    await tollgate.stop();
  }
});

test("--example listens on 127.0.0.1 only, unless a host is set", async () => {
  const env = { HOST: "", GRPC_HOST: "", DEBUG_HOST: "", RUNTIME_ROOT: "" };
  const example = await startTollgate({ args: ["serve", "--example"], env });
  try {
    for (const address of [example.http, example.grpc, example.debug])
      assert.match(address, /^127\.0\.0\.1:/);
  } finally {
    await example.stop();
  }
  const without = await startTollgate({
    args: ["serve", "--example"],
    unopened: true,
    env: { ...env, PORT: "", HTTP_ENABLED: "false" },
  });
  try {
    await without.logged(/Listening for gRPC on '127\.0\.0\.1:/);
    assert.doesNotMatch(without.log.join("\n"), /without effect/);
  } finally {
    await without.stop();
  }
  const open = await startTollgate({ args: ["serve", "--example"], env: { ...env, HOST: "0.0.0.0" } });
  try {
    assert.match(open.http, /^0\.0\.0\.0:/);
    assert.match(open.debug, /^127\.0\.0\.1:/);
  } finally {
    await open.stop();
  }
});

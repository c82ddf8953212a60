import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { connect as connectHttp2 } from "node:http2";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { scaled } from "../../../tools/time-scale.ts";
import { descriptor, GrpcCaller, request } from "./grpc-caller.ts";
import { bareEnvironment, type RunningTollgate, startTollgate } from "./tollgate.ts";

const config = {
  "a.yaml": "domain: a\ndescriptors:\n  - key: k\n    rate_limit: { unit: day, requests_per_unit: 100 }\n",
};
const folder = mkdtempSync(join(tmpdir(), "tollgate-lifecycle-"));
after(() => rmSync(folder, { recursive: true, force: true }));

/** Waits for the end of a service that ends by itself or after an earlier signal. Fails if it hangs. */
async function ended(tollgate: RunningTollgate, milliseconds = scaled(20_000)) {
  let hung = false;
  const kill = setTimeout(() => {
    hung = true;
    tollgate.signal("SIGKILL");
  }, milliseconds);
  const status = await tollgate.stop("SIGCONT");
  clearTimeout(kill);
  assert.ok(!hung, `it did not end:\n${tollgate.log.join("\n")}`);
  return status;
}

function isJsonLine(line: string) {
  const { level, ...rest } = JSON.parse(line) as Record<string, string>;
  return typeof level === "string" && Object.keys(rest).join() === "@message,@timestamp";
}
const isTextLine = (line: string) =>
  /^time="\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ" level=(fatal|error|warning|info|debug|trace) msg=".*"$/.test(line);

describe("the contract's log lines", () => {
  for (const workers of ["1", "2"]) {
    test(`LOG_FORMAT text and json: the listeners at warning, loading at debug, WORKERS=${workers}`, async () => {
      for (const [format, fits] of [
        ["", isTextLine],
        ["json", isJsonLine],
      ] as const) {
        const tollgate = await startTollgate({
          config,
          env: {
            LOG_FORMAT: format,
            LOG_LEVEL: "debug",
            WORKERS: workers,
            DISABLE_STATS: "",
            USE_PULLSTATS: "true",
            PULLSTATS_ADDR: "127.0.0.1:0",
          },
        });
        tollgate.signal("SIGHUP");
        await tollgate.logged(/reloading the configuration/);
        const bad = await fetch(`http://${tollgate.http}/json`, { method: "POST", body: "{" });
        assert.equal(bad.status, 400);
        assert.equal((await tollgate.stop()).code, 0);
        for (const line of tollgate.log) assert.ok(fits(line), line);
        assert.deepEqual(tollgate.output, []);
        const listeners = tollgate.log.filter((line) =>
          /Listening for (debug|gRPC|HTTP) on '127\.0\.0\.1:\d+'/.test(line),
        );
        assert.deepEqual(
          listeners.map((line) => [/Listening for (\w+)/.exec(line)?.[1], /level\W+(\w+)/.exec(line)?.[1]]),
          [
            ["debug", "warning"],
            ["gRPC", "warning"],
            ["HTTP", "warning"],
          ],
        );
        assert.ok(tollgate.log.some((line) => /level\W+debug/.test(line) && /a\.yaml/.test(line)));
      }
    });
  }

  test("Node's warnings of every thread are logged in the log's format", async () => {
    const preload = join(folder, "preload.cjs");
    writeFileSync(
      preload,
      "const { threadId } = require('node:worker_threads');\n" +
        "setInterval(() => process.emitWarning('odd in ' + threadId), 100).unref();\n",
    );
    const tollgate = await startTollgate({
      config,
      env: { LOG_FORMAT: "json", WORKERS: "2", NODE_OPTIONS: `--require=${preload}` },
    });
    const patterns = [0, 1, 2].map(
      (thread) => new RegExp(`^\\{"@message":"Node: Warning: odd in ${thread}"`),
    );
    await Promise.all(patterns.map((pattern) => tollgate.logged(pattern)));
    assert.equal((await tollgate.stop()).code, 0);
  });

  test("the default level is warn, and the first line of a startup without faults is a listener's", async () => {
    const tollgate = await startTollgate({ config });
    assert.equal((await tollgate.stop()).code, 0);
    assert.match(tollgate.log[0]!, / level=warning msg="Listening for debug on '127\.0\.0\.1:\d+'"$/);
    assert.ok(
      tollgate.log.every((line) => / level=warning /.test(line)),
      tollgate.log.join("\n"),
    );
  });
});

describe("a service that cannot start logs the reason in its format, and exits with 1", {
  concurrency: 4,
}, () => {
  const holder = createServer();
  after(() => holder.close());
  before(() => once(holder.listen(0, "127.0.0.1"), "listening"));
  const port = () => String((holder.address() as AddressInfo).port);
  const file = join(folder, "a-file");
  writeFileSync(file, "mine");
  const cases: [string, (port: string) => Record<string, string>, RegExp][] = [
    [
      "debug port in use",
      (held) => ({ DEBUG_PORT: held }),
      /cannot listen for debug on 127\.0\.0\.1:\d+: .*EADDRINUSE.* \(docs: \S+\/docs\/troubleshooting\.md#it-does-not-start\)/,
    ],
    [
      "HTTP port in use",
      (held) => ({ PORT: held }),
      /cannot listen for HTTP on 127\.0\.0\.1:\d+: .*EADDRINUSE/,
    ],
    [
      "gRPC port in use",
      (held) => ({ GRPC_PORT: held }),
      /cannot listen for gRPC on 127\.0\.0\.1:\d+: .*EADDRINUSE/,
    ],
    [
      "gRPC port in use, two threads",
      (held) => ({ GRPC_PORT: held, WORKERS: "2" }),
      /cannot listen for gRPC on 127\.0\.0\.1:\d+: .*EADDRINUSE/,
    ],
    [
      "metrics port in use",
      (held) => ({ DISABLE_STATS: "", USE_PULLSTATS: "true", PULLSTATS_ADDR: `127.0.0.1:${held}` }),
      /cannot listen for metrics on 127\.0\.0\.1:\d+: .*EADDRINUSE/,
    ],
    [
      "a socket in a missing folder",
      () => ({ GRPC_UDS: join(folder, "no", "s.sock") }),
      /cannot listen for gRPC on /,
    ],
    ["a socket's path that is a file", () => ({ GRPC_UDS: file }), /cannot listen for gRPC on .*a-file/],
    [
      "a socket's path that is too long",
      () => ({ GRPC_UDS: `/tmp/${"x".repeat(120)}` }),
      /cannot listen for gRPC on /,
    ],
    [
      "settings",
      () => ({ PORT: "80x", KVSTORE_POOL_SIZE: "-1" }),
      /PORT="80x"[\s\S]*docs: \S*settings\.md#PORT[\s\S]*docs: \S*settings\.md#KVSTORE_POOL_SIZE/,
    ],
  ];
  for (const [name, env, message] of cases) {
    test(name, async () => {
      for (const format of ["text", "json"]) {
        const tollgate = await startTollgate({
          config,
          env: { ...env(port()), LOG_FORMAT: format },
          unopened: true,
        });
        assert.deepEqual(await ended(tollgate), { code: 1, signal: null });
        const text = tollgate.log.join("\n");
        if (format === "json") {
          for (const line of tollgate.log) assert.ok(isJsonLine(line), line);
          const fatal = tollgate.log.map((line) => JSON.parse(line)).filter(({ level }) => level === "fatal");
          assert.match(fatal.map((entry) => entry["@message"]).join("\n"), message);
        } else assert.match(text, message);
        assert.doesNotMatch(text, /\n\s+at |node:/);
      }
      assert.equal(readFileSync(file, "utf8"), "mine");
    });
  }
});

test("the service exits with 1 if its threads keep ending", async () => {
  const preload = join(folder, "ends.cjs");
  writeFileSync(
    preload,
    "const { isMainThread } = require('node:worker_threads');\n" +
      "if (!isMainThread) setTimeout(() => process.exit(3), 300);\n",
  );
  const env = { WORKERS: "2", NODE_OPTIONS: `--require=${preload}` };
  const tollgate = await startTollgate({ config, env, unopened: true });
  assert.deepEqual(await ended(tollgate, scaled(60_000)), { code: 1, signal: null });
  assert.match(tollgate.log.join("\n"), /level=fatal msg="10 threads ended within a minute: shutting down"/);
});

describe("GRPC_UDS", () => {
  test("a stale socket is replaced, a live one is not, and the service removes its own", async () => {
    const path = join(folder, "grpc.sock");
    const env = { GRPC_UDS: path, GRPC_HOST: "", GRPC_PORT: "", WORKERS: "4", LOG_LEVEL: "info" };
    const first = await startTollgate({ config, env });
    assert.equal(first.grpc, path);
    await first.logged(/gRPC is served by one thread: a unix socket has one listener/);
    const second = await startTollgate({ config, env, unopened: true });
    assert.equal((await ended(second)).code, 1);
    assert.match(second.log.join("\n"), /cannot listen for gRPC on .*grpc\.sock/);
    const caller = new GrpcCaller(`unix:${path}`);
    assert.equal((await caller.ask(request("a", descriptor("k=v")))).overallCode, 1);
    caller.close();
    first.signal("SIGKILL");
    await first.stop("SIGKILL");
    assert.ok(existsSync(path), "a killed process leaves its socket");
    const third = await startTollgate({ config, env });
    assert.ok(statSync(path).isSocket());
    assert.equal((await third.stop()).code, 0);
    assert.ok(!existsSync(path), "a clean exit removes it");
  });

  test("GRPC_UDS_MODE sets the permissions of the socket", async () => {
    for (const [mode, bits] of [
      ["0666", 0o666],
      ["600", 0o600],
    ] as const) {
      const path = join(folder, `mode-${mode}.sock`);
      const tollgate = await startTollgate({ config, env: { GRPC_UDS: path, GRPC_UDS_MODE: mode } });
      assert.equal(statSync(path).mode & 0o777, bits);
      assert.equal((await tollgate.stop()).code, 0);
    }
  });
});

describe("signals at any time", { concurrency: 4 }, () => {
  const none = { "a.yaml": "nonsense: [" };
  const moments: [string, Record<string, string>, Readonly<Record<string, string>>, RegExp][] = [
    ["before the first configuration", { WORKERS: "2" }, none, /Listening for debug/],
    ["while the listeners open, one thread", { WORKERS: "1" }, config, /Listening for debug/],
    ["while the listeners open, two threads", { WORKERS: "2" }, config, /Listening for debug/],
    ["between gRPC and HTTP", { WORKERS: "2" }, config, /Listening for gRPC/],
    [
      "with the listeners open without rules",
      { FORCE_START_WITHOUT_INITIAL_CONFIG: "true" },
      none,
      /Listening for HTTP/,
    ],
  ];
  for (const [name, env, files, moment] of moments) {
    test(`SIGTERM ${name} exits with 0`, async () => {
      const tollgate = await startTollgate({ config: files, env, unopened: true });
      await tollgate.logged(moment);
      tollgate.signal("SIGTERM");
      assert.deepEqual(await ended(tollgate), { code: 0, signal: null });
      assert.match(tollgate.log.join("\n"), /received SIGTERM, shutting down/);
    });
    test(`SIGHUP and SIGUSR2 ${name} do not end the process`, async () => {
      const tollgate = await startTollgate({ config: files, env, unopened: true });
      await tollgate.logged(moment);
      tollgate.signal("SIGHUP");
      tollgate.signal("SIGUSR2");
      await tollgate.logged(/log level set to debug by SIGUSR2/);
      assert.equal((await tollgate.stop()).code, 0);
    });
  }

  test("a second SIGTERM exits at once with 1", async () => {
    const tollgate = await startTollgate({ config, env: { DRAIN_DELAY: "1h" } });
    tollgate.signal("SIGTERM");
    await tollgate.logged(/received SIGTERM/);
    tollgate.signal("SIGTERM");
    assert.deepEqual(await ended(tollgate), { code: 1, signal: null });
  });

  test("the longest SHUTDOWN_TIMEOUT lets a call finish", async () => {
    for (const workers of ["1", "2"]) {
      const env = { SHUTDOWN_TIMEOUT: "596h31m23s", DRAIN_DELAY: `${scaled(300)}ms`, WORKERS: workers };
      const tollgate = await startTollgate({ config, env });
      const caller = new GrpcCaller(tollgate.grpc);
      tollgate.signal("SIGTERM");
      await tollgate.logged(/received SIGTERM/);
      assert.equal((await caller.ask(request("a", descriptor("k=v")))).overallCode, 1);
      assert.deepEqual(await ended(tollgate), { code: 0, signal: null });
      caller.close();
      assert.ok(!tollgate.log.some((line) => line.includes("Overflow")), tollgate.log.join("\n"));
    }
  });

  test("SIGINT does not wait for DRAIN_DELAY", async () => {
    const tollgate = await startTollgate({ config, env: { DRAIN_DELAY: "1h", SHUTDOWN_TIMEOUT: "1h" } });
    tollgate.signal("SIGINT");
    assert.deepEqual(await ended(tollgate), { code: 0, signal: null });
  });
});

describe("drain", { concurrency: 4 }, () => {
  for (const workers of ["1", "2"]) {
    test(`DRAIN_DELAY: unhealthy, and every call is answered; SHUTDOWN_TIMEOUT: no client delays the exit, WORKERS=${workers}`, async () => {
      const env = {
        WORKERS: workers,
        DRAIN_DELAY: `${scaled(700)}ms`,
        SHUTDOWN_TIMEOUT: `${scaled(1500)}ms`,
      };
      const tollgate = await startTollgate({ config, env });
      const caller = new GrpcCaller(tollgate.grpc);
      const watched: string[] = [];
      const watch = caller.client.makeServerStreamRequest(
        "/grpc.health.v1.Health/Watch",
        (bytes: Buffer) => bytes,
        (bytes: Buffer) => bytes.toString("hex"),
        Buffer.alloc(0),
      );
      watch.on("data", (status: string) => watched.push(status));
      watch.on("error", () => watched.push("ended"));
      await once(watch, "data");
      const slow = await slowCaller(tollgate.http);
      tollgate.signal("SIGTERM");
      await tollgate.logged(/component termination is unhealthy/);
      const health = await fetch(`http://${tollgate.http}/healthcheck`);
      assert.equal(health.status, 503);
      assert.equal(health.headers.get("connection"), "close");
      assert.equal(await health.text(), "termination: the service is shutting down\n");
      assert.equal((await caller.ask(request("a", descriptor("k=v")))).overallCode, 1);
      assert.deepEqual(await ended(tollgate), { code: 0, signal: null });
      caller.close();
      slow.destroy();
      // SERVING, NOT_SERVING, and the end of the stream.
      assert.deepEqual(watched, ["0801", "0802", "ended"]);
    });
  }
});

/** A client that sends the head of a request and a part of its body, and then nothing. */
async function slowCaller(address: string): Promise<Socket> {
  const [host, port] = address.split(":");
  const socket = connect(Number(port), host);
  socket.on("error", () => undefined);
  await once(socket, "connect");
  socket.write("POST /json HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{");
  return socket;
}

test("GRPC_MAX_CONNECTION_AGE: GOAWAY at that age, closed after GRPC_MAX_CONNECTION_AGE_GRACE", async () => {
  const env = { GRPC_MAX_CONNECTION_AGE: "100ms", GRPC_MAX_CONNECTION_AGE_GRACE: "100ms" };
  const tollgate = await startTollgate({ config, env });
  const session = connectHttp2(`http://${tollgate.grpc}`);
  // A stream that never ends by itself.
  const watch = session.request({
    ":method": "POST",
    ":path": "/grpc.health.v1.Health/Watch",
    "content-type": "application/grpc",
    te: "trailers",
  });
  watch.on("error", () => undefined);
  watch.write(Buffer.alloc(5));
  const [code] = await once(session, "goaway");
  assert.equal(code, 0);
  await once(session, "close");
  assert.equal((await tollgate.stop()).code, 0);
});

describe("RUNTIME_ROOT", () => {
  test("missing at start: the listeners open when it appears", async () => {
    const root = join(folder, "later");
    const tollgate = await startTollgate({
      env: { RUNTIME_ROOT: root, RUNTIME_WATCH_ROOT: "true", LOG_LEVEL: "info" },
      unopened: true,
    });
    await tollgate.logged(/level=error.*later/);
    assert.throws(() => tollgate.http, /no listener for HTTP yet/);
    // In one step, as a deployment does it: an empty directory would also be a configuration.
    const made = join(folder, "made");
    mkdirSync(join(made, "config"), { recursive: true });
    writeFileSync(join(made, "config", "a.yaml"), config["a.yaml"]);
    renameSync(made, root);
    await tollgate.logged(/Listening for HTTP/);
    assert.equal((await tollgate.stop()).code, 0);
  });
});

describe("closed output pipes", { concurrency: 4 }, () => {
  const command = fileURLToPath(new URL("../bin/tollgate.mjs", import.meta.url));
  async function shell(script: string) {
    const child = spawn("bash", ["-c", `set -o pipefail; ${script}`], {
      env: { ...bareEnvironment, T: `${process.execPath} ${command}`, RULES: join(folder, "rules") },
      stdio: ["ignore", "ignore", "pipe"],
    });
    let errors = "";
    child.stderr.on("data", (chunk) => (errors += chunk));
    const [code] = await once(child, "close");
    return { code, errors };
  }
  mkdirSync(join(folder, "rules"));
  writeFileSync(join(folder, "rules", "a.yaml"), config["a.yaml"]);
  const scripts = [
    "$T check $RULES | true",
    "$T explain --config $RULES --domain a --descriptors k=v | true",
    "$T serve --help | true",
    "$T client -dial_string 127.0.0.1:1 -domain a -descriptors k=v 2>&1 | true || true",
    "$T check $RULES >&-",
  ];
  for (const script of scripts) {
    test(`${script}: no stack trace`, async () => {
      assert.deepEqual(await shell(script), { code: 0, errors: "" });
    });
  }

  test("a service with closed standard output and error continues, and exits with 0", async () => {
    const script = `exec env ${"PORT=0 GRPC_PORT=0 DEBUG_PORT=0"} RUNTIME_ROOT=${folder} RUNTIME_APPDIRECTORY=rules \
      BACKEND_TYPE=embedded USE_PUSHSTATS=false STATS_FLUSH_INTERVAL=100ms $T serve --example >&- 2>&-`;
    const child = spawn("bash", ["-c", script], {
      env: { ...bareEnvironment, T: `${process.execPath} ${command}` },
      stdio: "ignore",
    });
    // Without output there is no signal to wait for: the process must still run after many flushes.
    await new Promise((resolve) => setTimeout(resolve, scaled(1500)));
    assert.equal(child.exitCode, null);
    child.kill("SIGTERM");
    assert.deepEqual(await once(child, "close"), [0, null]);
  });
});

import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { test as nodeTest } from "node:test";
import { scaled } from "../../../../tools/time-scale.ts";
import { domain, Folder, publish } from "./folder.ts";
import { ManagementServer, resource } from "./management-server.ts";

const command = join(import.meta.dirname, "..", "..", "bin", "tollgate.mjs");

/** Runs `tollgate serve` in a separate process on free ports. */
class Tollgate {
  readonly #process: ChildProcess;
  readonly #exited: Promise<unknown>;
  /** Resolves with `host:port` when the HTTP listener is open. */
  readonly http: Promise<string>;
  #isOpen = false;
  log = "";

  constructor(env: Record<string, string>) {
    this.#process = spawn(process.execPath, [command, "serve"], {
      stdio: ["ignore", "ignore", "pipe"],
      env: {
        HOST: "127.0.0.1",
        GRPC_HOST: "127.0.0.1",
        DEBUG_HOST: "127.0.0.1",
        PORT: "0",
        GRPC_PORT: "0",
        DEBUG_PORT: "0",
        BACKEND_TYPE: "embedded",
        DISABLE_STATS: "true",
        ...env,
      },
    });
    this.#exited = once(this.#process, "exit");
    const opened = Promise.withResolvers<string>();
    const lines = createInterface({ input: this.#process.stderr! });
    lines.on("line", (line) => {
      this.log += `${line}\n`;
      const address = /Listening for HTTP on '([^']+)'/.exec(line)?.[1];
      if (address === undefined) return;
      this.#isOpen = true;
      opened.resolve(address);
    });
    lines.on("close", () => opened.reject(new Error(`tollgate ended:\n${this.log}`)));
    this.http = opened.promise;
    this.http.catch(() => {});
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Sends the keys `k` and `l` of the domain `d` to `/json`. */
  async decide(): Promise<Answer> {
    const body = JSON.stringify({
      domain: "d",
      descriptors: ["k", "l"].map((key) => ({ entries: [{ key, value: "v" }] })),
    });
    const response = await fetch(`http://${await this.http}/json`, { method: "POST", body });
    const { statuses = [] } = (await response.json()) as {
      statuses?: { currentLimit?: { requestsPerUnit: number }; limitRemaining?: number }[];
    };
    return {
      status: response.status,
      limits: statuses.map((one) => one.currentLimit?.requestsPerUnit ?? -1),
      remaining: statuses.map((one) => one.limitRemaining ?? -1),
    };
  }

  async end(): Promise<void> {
    this.#process.kill("SIGTERM");
    await this.#exited;
  }
}

interface Answer {
  readonly status: number;
  readonly limits: readonly number[];
  readonly remaining: readonly number[];
}

function test(
  name: string,
  body: (start: (env: Record<string, string>) => Tollgate, folder: Folder) => Promise<void>,
): void {
  nodeTest(name, { timeout: scaled(60_000) }, async () => {
    using folder = new Folder();
    const started: Tollgate[] = [];
    const start = (env: Record<string, string>): Tollgate => {
      const tollgate = new Tollgate({ RUNTIME_ROOT: folder.path, ...env });
      started.push(tollgate);
      return tollgate;
    };
    try {
      await body(start, folder);
    } finally {
      for (const tollgate of started) await tollgate.end();
    }
  });
}

/** Two equal limits per year, in two files of one domain. */
function limits(requests: number): Record<string, string> {
  const file = (key: string) =>
    domain("d", requests).replace("key: k", `key: ${key}`).replace("unit: minute", "unit: year");
  return { "k.yaml": file("k"), "l.yaml": file("l") };
}

test("a reload under load loses no decision, mixes no sets and keeps the counters", async (start, folder) => {
  publish(folder.at("config"), limits(1_000_000));
  const tollgate = start({ MERGE_DOMAIN_CONFIG: "true" });
  await tollgate.http;
  const answers: Answer[] = [];
  let swapping = true;
  const callers = Array.from({ length: 8 }, async () => {
    while (swapping) answers.push(await tollgate.decide());
  });
  try {
    for (let swap = 1; swap <= 15; swap++) {
      publish(folder.at("config"), limits(1_000_000 + swap));
      // Waits until a response shows the new set.
      while (answers.at(-1)?.limits[0] !== 1_000_000 + swap)
        await Promise.race([...callers, new Promise(setImmediate)]);
    }
  } finally {
    swapping = false;
  }
  await Promise.all(callers);
  for (const { status, limits: pair } of answers) {
    assert.equal(status, 200);
    assert.equal(pair.length, 2);
    assert.equal(pair[0], pair[1]);
  }
  const last = await tollgate.decide();
  const used = answers.length + 1;
  assert.deepEqual(last.remaining, [1_000_015 - used, 1_000_015 - used]);
});

test("the listeners open after rules from a management server, and a refused set changes nothing", async (start) => {
  const server = await ManagementServer.start();
  try {
    const tollgate = start({
      CONFIG_TYPE: "GRPC_XDS_SOTW",
      CONFIG_GRPC_XDS_SERVER_URL: server.address,
      CONFIG_GRPC_XDS_CLIENT_ADDITIONAL_HEADERS: "authorization:Bearer hush",
      LOG_LEVEL: "trace",
    });
    const stream = await server.stream();
    assert.deepEqual(stream.metadata.get("authorization"), ["Bearer hush"]);
    await stream.next();
    assert.equal(tollgate.isOpen, false);
    stream.send("v1", "n1", [resource("one", "d", "k")]);
    assert.deepEqual((await tollgate.decide()).limits, [5, -1]);
    assert.equal((await stream.next()).versionInfo, "v1");
    stream.send("v2", "n2", [resource("one", "", "k")]);
    assert.equal((await stream.next()).errorDetail?.code, 3);
    assert.deepEqual((await tollgate.decide()).limits, [5, -1]);
    assert.doesNotMatch(tollgate.log, /hush/);
  } finally {
    server.stop();
  }
});

test("SIGTERM ends the wait for the first rules at once", async (start, folder) => {
  const tollgate = start({ RUNTIME_ROOT: folder.at("missing"), LOG_LEVEL: "info" });
  while (!/waiting for the first configuration/.test(tollgate.log)) await new Promise(setImmediate);
  await tollgate.end();
  assert.equal(tollgate.isOpen, false);
});

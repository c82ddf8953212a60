/** Events that must not fail a request: a rolling restart of two replicas, and new certificates. */
import assert from "node:assert/strict";
import { cpSync, mkdtempSync, readFileSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { connect } from "node:tls";
import { scaled } from "../../../tools/time-scale.ts";
import { certificates } from "../test/servers/certificates.ts";
import { type RunningTollgate, startTollgate } from "../test/tollgate.ts";
import { Gateway } from "./gateway.ts";
import { recipeConfig } from "./recipe.ts";

const config = {
  "edge.yaml":
    "domain: edge\ndescriptors:\n  - key: user\n    rate_limit: { unit: day, requests_per_unit: 1000000 }\n",
};

/** Sends requests until it is stopped. The recipes refuse a request with 500 while no replica answers. */
class Load {
  readonly statuses = new Map<number, number>();
  #running = true;
  readonly #workers: Promise<void>[];

  constructor(gateway: Gateway) {
    this.#workers = Array.from({ length: 4 }, () => this.#work(gateway));
  }

  get answered(): number {
    return this.statuses.get(200) ?? 0;
  }

  /** Resolves after this number of further answers. */
  async more(count: number): Promise<void> {
    const until = this.answered + count;
    while (this.answered < until) await new Promise((resolve) => setImmediate(resolve));
  }

  async stop(): Promise<ReadonlyMap<number, number>> {
    this.#running = false;
    await Promise.all(this.#workers);
    return this.statuses;
  }

  async #work(gateway: Gateway): Promise<void> {
    while (this.#running) {
      const { status } = await gateway.get("/", { "x-user": "ann" });
      this.statuses.set(status, (this.statuses.get(status) ?? 0) + 1);
    }
  }
}

test("a rolling restart of two replicas under load fails no request, with DRAIN_DELAY above the health check", {
  timeout: scaled(120_000),
}, async () => {
  const start = (port = "0") =>
    startTollgate({ config, env: { DRAIN_DELAY: `${scaled(2000)}ms`, GRPC_PORT: port } });
  const replicas: RunningTollgate[] = await Promise.all([start(), start()]);
  const options = { replicas: replicas.map(({ grpc }) => grpc), healthInterval: "0.1s" };
  await using gateway = await Gateway.start({
    rateLimitService: "",
    config: recipeConfig("envoy/http-filter.yaml", options),
  });
  const healthy = (count: number) =>
    gateway.stat("cluster.ratelimit.membership_healthy", (value) => value === count);
  await healthy(2);
  const load = new Load(gateway);
  try {
    for (const index of [0, 1]) {
      await load.more(100);
      const port = replicas[index]!.grpc.split(":").at(-1)!;
      assert.equal((await replicas[index]!.stop()).code, 0);
      await load.more(100);
      replicas[index] = await start(port);
      await healthy(2);
    }
    await load.more(100);
  } finally {
    const statuses = await load.stop();
    await Promise.all(replicas.map((replica) => replica.stop("SIGKILL")));
    assert.deepEqual([...statuses.keys()], [200], JSON.stringify([...statuses]));
  }
});

test("certificates swapped under load fail no request", { timeout: scaled(60_000) }, async () => {
  const { ca, server, serverKey, renewed, renewedKey, client, clientKey } = certificates();
  const folder = mkdtempSync(join(tmpdir(), "tollgate-swap-"));
  const cert = join(folder, "tls.crt");
  const key = join(folder, "tls.key");
  const place = (certFrom: string, keyFrom: string) => {
    for (const [from, to] of [
      [certFrom, cert],
      [keyFrom, key],
    ] as const) {
      cpSync(from, `${to}.new`);
      renameSync(`${to}.new`, to);
    }
  };
  place(server, serverKey);
  const env = {
    GRPC_SERVER_USE_TLS: "true",
    GRPC_SERVER_TLS_CERT: cert,
    GRPC_SERVER_TLS_KEY: key,
    GRPC_CLIENT_TLS_CACERT: ca,
  };
  const tollgate = await startTollgate({ config, env });
  try {
    const files = { "/certs/ca.pem": ca, "/certs/client.pem": client, "/certs/client.key": clientKey };
    await using gateway = await Gateway.start({
      rateLimitService: "",
      config: recipeConfig("envoy/mtls.yaml", { replicas: [tollgate.grpc], files, healthInterval: "0.1s" }),
    });
    const load = new Load(gateway);
    await load.more(100);
    // Another subject, so that a new connection shows which certificate is in use.
    place(renewed, renewedKey);
    while ((await subjectOf(tollgate.grpc, files)) !== "renewed");
    await load.more(100);
    place(server, serverKey);
    while ((await subjectOf(tollgate.grpc, files)) !== "server");
    await load.more(100);
    const statuses = await load.stop();
    assert.deepEqual([...statuses.keys()], [200], JSON.stringify([...statuses]));
  } finally {
    await tollgate.stop();
    rmSync(folder, { recursive: true });
  }
});

/** The common name of the certificate that a new connection gets. */
async function subjectOf(address: string, files: Readonly<Record<string, string>>): Promise<unknown> {
  const [host, port] = address.split(":");
  const socket = connect({
    host: host!,
    port: Number(port),
    cert: readFileSync(files["/certs/client.pem"]!),
    key: readFileSync(files["/certs/client.key"]!),
    rejectUnauthorized: false,
    ALPNProtocols: ["h2"],
  });
  try {
    await new Promise((resolve, reject) => socket.once("secureConnect", resolve).once("error", reject));
    return socket.getPeerCertificate().subject.CN;
  } finally {
    socket.destroy();
  }
}

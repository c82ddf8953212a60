import assert from "node:assert/strict";
import { test as nodeTest } from "node:test";
import { Service } from "../../src/service.ts";
import { loadSettings } from "../../src/settings/load.ts";
import { domain, Folder, publish } from "./folder.ts";
import { ManagementServer, resource } from "./management-server.ts";

interface Answer {
  readonly status: number;
  readonly limits: readonly number[];
  readonly remaining: readonly number[];
}

/** Asks for the keys `k` and `l` of the domain `d`, on `/json`. */
async function ask(service: Service): Promise<Answer> {
  const body = JSON.stringify({
    domain: "d",
    descriptors: ["k", "l"].map((key) => ({ entries: [{ key, value: "v" }] })),
  });
  const response = await fetch(`http://${service.addresses.http}/json`, { method: "POST", body });
  const { statuses = [] } = (await response.json()) as {
    statuses?: { currentLimit?: { requestsPerUnit: number }; limitRemaining?: number }[];
  };
  return {
    status: response.status,
    limits: statuses.map((one) => one.currentLimit?.requestsPerUnit ?? -1),
    remaining: statuses.map((one) => one.limitRemaining ?? -1),
  };
}

/** A whole service on ports of its own. */
function test(
  name: string,
  body: (start: (env: Record<string, string>) => Promise<Service>, folder: Folder) => Promise<void>,
): void {
  nodeTest(name, { timeout: 30_000 }, async () => {
    using folder = new Folder();
    const services: Service[] = [];
    const start = async (env: Record<string, string>): Promise<Service> => {
      const service = await Service.start(
        loadSettings({
          HOST: "127.0.0.1",
          GRPC_HOST: "127.0.0.1",
          DEBUG_HOST: "127.0.0.1",
          PORT: "0",
          GRPC_PORT: "0",
          DEBUG_PORT: "0",
          BACKEND_TYPE: "embedded",
          EMBEDDED_STORE_SIZE_IN_BYTES: "1048576",
          DISABLE_STATS: "true",
          LOG_LEVEL: "fatal",
          RUNTIME_ROOT: folder.path,
          ...env,
        }),
      );
      services.push(service);
      return service;
    };
    try {
      await body(start, folder);
    } finally {
      for (const service of services) await service.stop();
    }
  });
}

/** Two limits a day, both of the same height, in two files of one domain. */
function limits(height: number): Record<string, string> {
  const file = (key: string) =>
    domain("d", height).replace("key: k", `key: ${key}`).replace("unit: minute", "unit: year");
  return { "k.yaml": file("k"), "l.yaml": file("l") };
}

test("a reload under load loses no decision, mixes no two sets, and counters go on", async (start, folder) => {
  publish(folder.at("config"), limits(1_000_000));
  const service = await start({ MERGE_DOMAIN_CONFIG: "true" });
  await service.opened;
  const answers: Answer[] = [];
  let swapping = true;
  const callers = Array.from({ length: 8 }, async () => {
    while (swapping) answers.push(await ask(service));
  });
  const seen = new Set<number>();
  for (let swap = 1; swap <= 15; swap++) {
    const height = 1_000_000 + swap;
    publish(folder.at("config"), limits(height));
    // Until an answer shows the new set.
    while (answers.at(-1)?.limits[0] !== height) await new Promise(setImmediate);
    seen.add(height);
  }
  swapping = false;
  await Promise.all(callers);
  assert.equal(seen.size, 15);
  for (const { status, limits: pair } of answers) {
    assert.equal(status, 200);
    assert.equal(pair.length, 2);
    assert.equal(pair[0], pair[1]);
  }
  const last = await ask(service);
  const used = answers.length + 1;
  assert.deepEqual(last.remaining, [1_000_015 - used, 1_000_015 - used]);
});

test("rules from a management server open the doors", async (start) => {
  const server = await ManagementServer.start();
  try {
    const service = await start({ CONFIG_TYPE: "GRPC_XDS_SOTW", CONFIG_GRPC_XDS_SERVER_URL: server.address });
    const stream = await server.stream();
    await stream.next();
    assert.equal(service.addresses.http, "", "no door is open before the first rules");
    stream.send("v1", "n1", [resource("one", "d", "k")]);
    await service.opened;
    assert.deepEqual((await ask(service)).limits, [5, -1]);
    stream.send("v2", "n2", [resource("one", "", "k")]);
    const ack = await stream.next();
    assert.equal(ack.responseNonce, "n1");
    assert.equal((await stream.next()).errorDetail?.code, 3);
    assert.deepEqual((await ask(service)).limits, [5, -1], "a refused set changes nothing");
  } finally {
    server.stop();
  }
});

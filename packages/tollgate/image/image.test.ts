/** The image's root file system, run as a container engine would run it: see `container.ts`. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { loadAll } from "js-yaml";
import { grpcCollector, httpCollector } from "../test/observe/collector.ts";
import { certificates } from "../test/servers/certificates.ts";
import { bareEnvironment } from "../test/tollgate.ts";
import { Image, Pod, type PodProcess } from "./container.ts";

const RULES =
  "domain: rl\ndescriptors:\n  - key: source_cluster\n    value: proxy\n    descriptors:\n      - key: destination_cluster\n        value: mock\n        rate_limit: { unit: day, requests_per_unit: 2 }\n";

/** The environment that the Go service's compose file sets. The names `redis` and `statsd` are in `/etc/hosts`. */
const GO_COMPOSE = {
  USE_STATSD: "false",
  LOG_LEVEL: "debug",
  REDIS_SOCKET_TYPE: "tcp",
  REDIS_URL: "redis:6379",
  RUNTIME_ROOT: "/data",
  RUNTIME_SUBDIRECTORY: "ratelimit",
};

/** The members of a resource that this file reads. */
interface Manifest {
  readonly kind: string;
  readonly data?: Readonly<Record<string, string>>;
  readonly spec?: {
    readonly template: {
      readonly spec: {
        readonly containers: readonly {
          readonly command: readonly string[];
          readonly env: readonly { readonly name: string; readonly value: string }[];
        }[];
      };
    };
  };
}

describe("the image", () => {
  let image: Image;
  let folder: string;
  before(async () => {
    image = await Image.assemble();
    folder = mkdtempSync(join(tmpdir(), "tollgate-volume-"));
    mkdirSync(join(folder, "data/ratelimit/config"), { recursive: true });
    writeFileSync(join(folder, "data/ratelimit/config/config.yaml"), RULES);
    writeFileSync(join(folder, "hosts"), "127.0.0.1 localhost redis statsd envoy-gateway\n");
  });
  after(() => {
    image[Symbol.dispose]();
    rmSync(folder, { recursive: true, force: true });
  });

  const volumes = () => ({ "/data": join(folder, "data"), "/etc/hosts": join(folder, "hosts") });
  const healthcheck = async (pod: Pod): Promise<string> =>
    (
      await pod.exec([
        "curl",
        "--silent",
        "--write-out",
        " %{http_code}",
        "http://127.0.0.1:8080/healthcheck",
      ]).ended
    ).out;

  test("is smaller than 200 MB, and has no shell, no node_modules and no file that only root can read", () => {
    let size = 0;
    for (const entry of readdirSync(image.root, { recursive: true, withFileTypes: true })) {
      assert.doesNotMatch(entry.name, /^(?:sh|bash|busybox|node_modules|npm)$/);
      if (!entry.isFile()) continue;
      const { size: bytes, mode } = statSync(join(entry.parentPath, entry.name));
      size += bytes;
      assert.equal(mode & 0o444, 0o444, entry.name);
    }
    assert.ok(size < 200e6, `${size} bytes`);
  });

  test("runs /bin/ratelimit in the environment of the Go service's compose file, and its client", async () => {
    await using pod = await Pod.start(image);
    pod.exec(["redis-server", "--port", "6379", "--save", "", "--appendonly", "no"]);
    const service = pod.run(["/bin/ratelimit"], GO_COMPOSE, volumes());
    await service.logged(/Listening for HTTP on/);
    assert.match(service.err, /Listening for gRPC on '[^']*:8081'/);
    assert.equal(await healthcheck(pod), "OK 200");
    const call = () => {
      const flags = ["-dial_string", "localhost:8081", "-domain", "rl"];
      const descriptors = ["-descriptors", "source_cluster=proxy,destination_cluster=mock"];
      return pod.run(["/bin/ratelimit_client", ...flags, ...descriptors], {}, volumes()).ended;
    };
    const answers: (string | undefined)[] = [];
    for (let count = 0; count < 3; count++) {
      const { out, err, code } = await call();
      assert.equal(code, 0, err);
      answers.push(/^\w+/.exec(out)?.[0]);
    }
    assert.deepEqual(answers, ["OK", "OK", "OVER_LIMIT"]);
    // SIGHUP loads the changed rules, in the thread that compiles rules.
    const config = join(folder, "data/ratelimit/config/config.yaml");
    writeFileSync(config, RULES.replace("requests_per_unit: 2", "requests_per_unit: 9"));
    service.signal("SIGHUP");
    while (!(await call()).out.startsWith("OK"));
    writeFileSync(config, RULES);
    service.signal("SIGTERM");
    const { code, signal, err } = await service.ended;
    assert.deepEqual({ code, signal }, { code: 0, signal: null }, err);
    assert.match(err, /received SIGTERM, shutting down/);
  });

  test("starts and is healthy in the environment of Envoy Gateway, before a configuration comes", async () => {
    const { ca, server, serverKey } = certificates();
    for (const [name, file] of [
      ["ca.crt", ca],
      ["tls.crt", server],
      ["tls.key", serverKey],
    ] as const) {
      mkdirSync(join(folder, "certs"), { recursive: true });
      cpSync(file, join(folder, "certs", name));
      chmodSync(join(folder, "certs", name), 0o444);
    }
    const file = new URL("../../../deploy/envoy-gateway/environment.env", import.meta.url);
    const env = Object.fromEntries(
      [...readFileSync(file, "utf8").matchAll(/^(\w+)=(.*)$/gm)].map(([, name, value]) => [name!, value!]),
    );
    await using pod = await Pod.start(image);
    pod.exec(["redis-server", "--port", "6379", "--save", "", "--appendonly", "no"]);
    const hosts = { "/etc/hosts": join(folder, "hosts"), "/certs": join(folder, "certs") };
    const service = pod.run(["/bin/ratelimit"], env, hosts);
    await service.logged(/Listening for HTTP on/);
    assert.equal(await healthcheck(pod), "OK 200");
    assert.match(service.err, /Listening for metrics on '[^']*:19001'/);
    service.signal("SIGTERM");
    assert.equal((await service.ended).code, 0, service.err);
  });

  for (const path of ["kubernetes/tollgate.yaml", "istio/ratelimit.yaml", "contour/contour.yaml"])
    test(`runs with the command, the environment and the rules of deploy/${path}`, async () => {
      const text = readFileSync(new URL(`../../../deploy/${path}`, import.meta.url), "utf8");
      const resources = (loadAll(text) as (Manifest | null)[]).filter((resource) => resource !== null);
      const container = resources.find(({ kind }) => kind === "Deployment")!.spec!.template.spec
        .containers[0]!;
      const rules = resources.find(
        ({ kind, data }) => kind === "ConfigMap" && /^domain:/m.test(Object.values(data!)[0]!),
      );
      const config = mkdtempSync(join(folder, "config-"));
      for (const [name, content] of Object.entries(rules!.data!)) writeFileSync(join(config, name), content);
      chmodSync(config, 0o755);
      await using pod = await Pod.start(image);
      pod.exec(["redis-server", "--port", "6379", "--save", "", "--appendonly", "no"]);
      const env = Object.fromEntries(container.env.map(({ name, value }) => [name, value]));
      const mounts = { "/etc/hosts": join(folder, "hosts"), "/data/ratelimit/config": config };
      const service = pod.run(container.command, { ...env, DRAIN_DELAY: "0s" }, mounts);
      await service.logged(/Listening for HTTP on/);
      assert.equal(await healthcheck(pod), "OK 200");
      service.signal("SIGTERM");
      assert.equal((await service.ended).code, 0, service.err);
    });

  test("runs with several threads, from the bundle", async () => {
    await using pod = await Pod.start(image);
    const service = pod.run(["/bin/tollgate", "serve", "--example"], { WORKERS: "2", LOG_LEVEL: "info" });
    await service.logged(/Listening for HTTP on/);
    assert.match(service.err, /gRPC is served by 2 threads/);
    // Waymark's controllers, with and without parameters. A profile samples both threads.
    const body = '{"domain":"messaging","descriptors":[{"entries":[{"key":"to_number","value":"1"}]}]}';
    const pages: readonly (readonly [url: string, answer: RegExp, ...flags: string[]])[] = [
      ["8080/json", /"overallCode":"OK"/, "--data", body],
      ["6070/explain", /to_number=1/, "--data", body],
      ["6070/explain?domain=messaging&descriptor=to_number=1", /to_number/],
      ["6070/stats?filter=", /ratelimit\.service\./],
      [
        "6070/debug/pprof/profile?seconds=1",
        / 200$/,
        "--output",
        "/dev/null",
        "--write-out",
        " %{http_code}",
      ],
    ];
    for (const [url, answer, ...flags] of pages)
      assert.match(
        (await pod.exec(["curl", "--silent", "--max-time", "30", ...flags, `http://127.0.0.1:${url}`]).ended)
          .out,
        answer,
      );
    service.signal("SIGINT");
    assert.equal((await service.ended).code, 0);
  });

  const inside: readonly (readonly [name: string, script: string, output: string])[] = [
    [
      "is process 1 and not root",
      "process.pid + ' ' + process.getuid() + ':' + process.getgid()",
      "1 65532:65532",
    ],
    [
      "has a user with a name and a home",
      "os.userInfo().username + ' ' + os.userInfo().homedir",
      "nonroot /home/nonroot",
    ],
    [
      "cannot write",
      "(() => { try { fs.writeFileSync('/tmp/x', '') } catch (e) { return e.code } })()",
      "EROFS",
    ],
    ["has certificate authorities", "tls.getCACertificates('system').length > 100", "true"],
  ];
  for (const [name, script, output] of inside)
    test(`a process ${name}`, async () => {
      await using pod = await Pod.start(image);
      const { out, err } = await pod.run(["/usr/bin/node", "-p", script]).ended;
      assert.equal(out, `${output}\n`, err);
    });

  test("checks a configuration: /bin/ratelimit_config_check", async () => {
    await using pod = await Pod.start(image);
    const check = (path: string) =>
      pod.run(["/bin/ratelimit_config_check", "-config_dir", path], {}, volumes()).ended;
    const good = await check("/data/ratelimit/config");
    assert.deepEqual([good.code, good.out], [0, "1 domain, 1 limit in 1 file: no errors\n"], good.err);
    assert.equal((await check("/data/absent")).code, 2);
  });

  for (const [protocol, collect] of [
    ["http", httpCollector],
    ["grpc", grpcCollector],
  ] as const)
    test(`exports traces over ${protocol}: OpenTelemetry is part of the bundle`, async () => {
      await using stack = new AsyncDisposableStack();
      const collector = stack.adopt(await collect(), ({ close }) => close());
      const flags = [
        "-dial_string",
        "127.0.0.1:1",
        "-domain",
        "d",
        "-descriptors",
        "k=v",
        "-otlp-protocol",
        protocol,
      ];
      const launcher = join(image.root, "usr/lib/tollgate/launcher.mjs");
      const env = { ...bareEnvironment, OTEL_EXPORTER_OTLP_ENDPOINT: collector.url };
      const client = spawn(process.execPath, [launcher, "client", ...flags], { env, stdio: "ignore" });
      assert.deepEqual(await once(client, "close"), [1, null]);
      assert.deepEqual(
        collector.spans.map(({ name }) => name),
        ["envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit"],
      );
    });

  test("ends commands that it stops as process 1", async () => {
    await using pod = await Pod.start(image);
    for (const signal of ["SIGINT", "SIGTERM"] as const) {
      const client: PodProcess = pod.run([
        "/bin/tollgate",
        "client",
        "-domain",
        "d",
        "-descriptors",
        "a=b",
        "-timeout",
        "60s",
        "-dial_string",
        "127.0.0.1:1",
        "-repeat",
        "10000",
      ]);
      await client.logged(/status 14/);
      client.signal(signal);
      assert.equal((await client.ended).code, signal === "SIGINT" ? 130 : 143);
    }
  });

  test("carries the licenses of its parts", () => {
    const licenses = readFileSync(join(image.root, "usr/lib/tollgate/LICENSES.txt"), "utf8");
    for (const name of ["@grpc/grpc-js", "js-yaml", "re2js"])
      assert.ok(licenses.includes(`\n${name} `), name);
  });
});

import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { assertZipped, authorityOf, type Client, samples, type Target } from "../client.ts";
import { goModuleVersion, succeed } from "./tool.ts";

/** ghz's JSON report, as far as it is read. */
interface Report {
  readonly count: number;
  readonly statusCodeDistribution: Record<string, number>;
  readonly errorDistribution: Record<string, number> | null;
}

function way(target: Target): string[] {
  if (target.path !== "") return ["--insecure", `unix://${target.path}`];
  if (target.transport === "TLS with ALPN")
    return ["--cacert", target.caFile, "--cname", "localhost", authorityOf(target)];
  return ["--insecure", authorityOf(target)];
}

const note = (payload: Buffer) => ({ payload: payload.toString("base64") });

/** ghz (grpc-go): a load generator. It knows the service by reflection alone. */
export function ghz(command: string): Client {
  async function load(
    target: Target,
    call: string,
    data: unknown,
    options: readonly string[] = ["-n", "1", "-c", "1"],
  ): Promise<Report> {
    const folder = await mkdtemp(join(tmpdir(), "grpc-wire-ghz-"));
    try {
      const file = join(folder, "data.json");
      await writeFile(file, JSON.stringify(data));
      const args = ["--call", call, "-D", file, "-O", "json", "--cpus", "1", ...options, ...way(target)];
      const { stdout } = await succeed(command, args);
      return JSON.parse(stdout.toString()) as Report;
    } finally {
      await rm(folder, { recursive: true });
    }
  }

  async function expect(
    statuses: Record<string, number>,
    ...args: Parameters<typeof load>
  ): Promise<undefined> {
    const report = await load(...args);
    assert.deepEqual(report.statusCodeDistribution, statuses, JSON.stringify(report.errorDistribution));
  }

  const echo = "conformance.Probe.Echo";
  return {
    name: "ghz",
    version: async () => {
      const grpcGo = await goModuleVersion(command, "google.golang.org/grpc");
      return `${await goModuleVersion(command, "github.com/bojand/ghz")} (grpc-go ${grpcGo})`;
    },
    unable: {},
    trials: {
      unary: (target) => expect({ OK: 1 }, target, echo, { text: samples.greeting }),
      concurrent: (target) =>
        expect({ OK: 1000 }, target, echo, { text: samples.greeting }, ["-n", "1000", "-c", "50"]),
      deadline: async (target) => {
        const text = target.control.unique();
        const options = ["-n", "1", "-c", "1", "-t", `${samples.deadlineMs}ms`];
        await expect({ DeadlineExceeded: 1 }, target, "conformance.Probe.Wait", { text }, options);
        await target.control.gone(text);
        return undefined;
      },
      cancel: async (target) => {
        const text = target.control.unique();
        const options = ["-c", "1", "-z", "500ms", "--duration-stop", "close"];
        await load(target, "conformance.Probe.Wait", { text }, options);
        await target.control.gone(text);
        return undefined;
      },
      "4 MB both ways": (target) => expect({ OK: 1 }, target, echo, note(samples.large)),
      "5 MB is RESOURCE_EXHAUSTED": (target) =>
        expect({ ResourceExhausted: 1 }, target, echo, note(samples.tooLarge)),
      "gzip both ways": (target) =>
        target.control.counted(target, async (counted, traffic) => {
          await expect({ OK: 1 }, counted, echo, note(samples.zippable), ["-n", "1", "-c", "1", "-e"]);
          assertZipped(traffic);
          return undefined;
        }),
      "server streaming": (target) =>
        target.control.counted(target, async (counted, traffic) => {
          const { count, payload } = samples.streamed;
          await expect({ OK: 1 }, counted, "conformance.Probe.Count", { count, ...note(payload) });
          assert.ok(traffic.down > count * payload.length, `${traffic.down} bytes came`);
          return undefined;
        }),
      "client streaming": (target) => {
        const { count, payload } = samples.summed;
        return expect(
          { OK: 1 },
          target,
          "conformance.Probe.Sum",
          Array.from({ length: count }, () => note(payload)),
        );
      },
      "bidirectional streaming": (target) => {
        const notes = Array.from({ length: 100 }, (_, count) => ({ count }));
        return expect({ OK: 1 }, target, "conformance.Probe.Talk", notes);
      },
      "metadata, -bin too": "does not show an answer's metadata",
      "status with Unicode": async (target) => {
        const report = await load(target, "conformance.Probe.Fail", { text: samples.failure });
        assert.deepEqual(report.statusCodeDistribution, { NotFound: 1 });
        assert.ok(Object.keys(report.errorDistribution ?? {}).some((each) => each.includes(samples.failure)));
        return undefined;
      },
      "health Check": async (target) => {
        await expect({ OK: 1 }, target, "grpc.health.v1.Health.Check", { service: "" });
        return expect({ NotFound: 1 }, target, "grpc.health.v1.Health.Check", { service: "nobody knows" });
      },
      "health Watch": "does not show an answer's messages",
      reflection: async (target) => {
        await expect({ OK: 1 }, target, echo, {});
        return "describe only: it lists nothing";
      },
    },
  };
}

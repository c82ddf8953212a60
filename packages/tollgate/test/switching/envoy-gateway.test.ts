/**
 * The configurations that Envoy Gateway generates, over xDS as it sends them. For each route that it generates, the test sends
 * the descriptors that Envoy makes from the route's actions, and expects the limit of the configuration.
 */
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { loadAll } from "js-yaml";
import { scaled } from "../../../../tools/time-scale.ts";
import type {
  RateLimitConfigSchema,
  RateLimitDescriptorSchema,
} from "../../src/protocol/gen/ratelimit/config/ratelimit/v3/rls_conf_pb.ts";
import { type AdsStream, ManagementServer } from "../sources/management-server.ts";
import { type RunningTollgate, startTollgate } from "../tollgate.ts";

interface GeneratedLimit {
  readonly requests_per_unit: number;
  readonly unit: "SECOND" | "MINUTE" | "HOUR" | "DAY" | "MONTH" | "YEAR";
  readonly unlimited: boolean;
}

interface GeneratedDescriptor {
  readonly key: string;
  readonly value: string;
  readonly rate_limit: GeneratedLimit | null;
  readonly descriptors: readonly GeneratedDescriptor[];
  readonly shadow_mode: boolean;
}

interface GeneratedConfig {
  readonly name: string;
  readonly domain: string;
  readonly descriptors: readonly GeneratedDescriptor[];
}

/** One action of a route. Its only member names its kind. */
interface Action {
  readonly ActionSpecifier: Readonly<Record<string, { descriptor_key: string; descriptor_value?: string }>>;
}

interface GeneratedRoute {
  readonly routeName: string;
  readonly rateLimitsByDomain: Readonly<
    Record<string, readonly { readonly actions: readonly Action[] }[] | null>
  >;
}

interface Entry {
  readonly key: string;
  readonly value: string;
}

interface Answer {
  readonly overallCode: string;
  readonly statuses: readonly {
    readonly code: string;
    readonly currentLimit?: { readonly requestsPerUnit: number; readonly unit: string };
  }[];
}

const folder = join(import.meta.dirname, "envoy-gateway");
const cases = readdirSync(folder)
  .filter((name) => name.endsWith(".routes.yaml"))
  .map((name) => name.replace(".routes.yaml", ""))
  .sort();

/** `ratelimit.config.ratelimit.v3.RateLimitUnit`. */
const units = { SECOND: 1, MINUTE: 2, HOUR: 3, DAY: 4, MONTH: 5, YEAR: 6 } as const;

/** `hits_addend` is a uint32. Envoy Gateway writes the same number as the limit of a rule that never refuses. */
const MAX_HITS = 4_294_967_295;

const read = <T>(name: string): T[] => loadAll(readFileSync(join(folder, name), "utf8")) as T[];

/** The entry that Envoy sends for an action. The values of headers and addresses are the caller's. */
function entryOf(action: Action): Entry {
  const [kind, { descriptor_key: key, descriptor_value: value }] = Object.entries(action.ActionSpecifier)[0]!;
  if (kind === "RequestHeaders") return { key, value: "ann" };
  return { key, value: value === "%DOWNSTREAM_REMOTE_ADDRESS_WITHOUT_PORT%" ? "192.168.1.7" : value! };
}

/** The descriptor of the configuration for these entries: the value itself, or the key with any value. */
function generatedFor(config: GeneratedConfig, entries: readonly Entry[]): GeneratedDescriptor | undefined {
  let level = config.descriptors;
  let found: GeneratedDescriptor | undefined;
  for (const { key, value } of entries) {
    const ofKey = level.filter((descriptor) => descriptor.key === key);
    found = ofKey.find((each) => each.value === value) ?? ofKey.find((each) => each.value === "");
    level = found?.descriptors ?? [];
  }
  return found;
}

function toResource({
  name,
  domain,
  descriptors,
}: GeneratedConfig): MessageInitShape<typeof RateLimitConfigSchema> {
  return { name, domain, descriptors: descriptors.map(toDescriptor) };
}

function toDescriptor(from: GeneratedDescriptor): MessageInitShape<typeof RateLimitDescriptorSchema> {
  const { key, value, rate_limit: limit } = from;
  return {
    key,
    value,
    shadowMode: from.shadow_mode,
    descriptors: from.descriptors.map(toDescriptor),
    ...(limit !== null && {
      rateLimit: {
        requestsPerUnit: limit.requests_per_unit,
        unit: units[limit.unit],
        unlimited: limit.unlimited,
      },
    }),
  };
}

describe("configurations of Envoy Gateway over xDS", { timeout: scaled(60_000) }, () => {
  let server: ManagementServer;
  let stream: AdsStream;
  let tollgate: RunningTollgate;
  before(async () => {
    server = await ManagementServer.start();
    const starting = startTollgate({
      env: { CONFIG_TYPE: "GRPC_XDS_SOTW", CONFIG_GRPC_XDS_SERVER_URL: server.address },
    });
    stream = await server.stream();
    await stream.next();
    await publish("start", [{ name: "start", domain: "start", descriptors: [] }]);
    tollgate = await starting;
  });
  after(async () => {
    await tollgate.stop();
    server.stop();
  });

  /** Sends the configurations, and waits until Tollgate uses them. */
  async function publish(version: string, configs: readonly GeneratedConfig[]): Promise<void> {
    stream.send(version, version, configs.map(toResource));
    const { versionInfo, errorDetail } = await stream.next();
    assert.equal(errorDetail, undefined);
    assert.equal(versionInfo, version);
  }

  async function decide(domain: string, entries: readonly Entry[], hitsAddend: number): Promise<Answer> {
    const body = JSON.stringify({ domain, descriptors: [{ entries }], hitsAddend });
    const response = await fetch(`http://${tollgate.http}/json`, { method: "POST", body });
    return (await response.json()) as Answer;
  }

  for (const name of cases)
    test(name, async () => {
      const configs = read<GeneratedConfig>(`${name}.yaml`);
      await publish(name, configs);
      let limited = 0;
      for (const { rateLimitsByDomain } of read<GeneratedRoute>(`${name}.routes.yaml`))
        for (const [domain, rateLimits] of Object.entries(rateLimitsByDomain))
          for (const { actions } of rateLimits ?? []) {
            const entries = actions.map(entryOf);
            const config = configs.find((each) => each.domain === domain);
            const generated = config && generatedFor(config, entries);
            const limit = generated?.rate_limit;
            assert.ok(limit, `no limit for ${JSON.stringify(entries)}`);
            // One hit too many at once, so that the end of a window between two calls changes nothing.
            const hits = Math.min(limit.requests_per_unit + 1, MAX_HITS);
            const answer = await decide(domain, entries, hits);
            const refused = hits > limit.requests_per_unit && !generated.shadow_mode;
            assert.equal(answer.overallCode, refused ? "OVER_LIMIT" : "OK");
            assert.deepEqual(answer.statuses[0]?.currentLimit, {
              requestsPerUnit: limit.requests_per_unit,
              unit: limit.unit,
            });
            limited++;
          }
      assert.ok(limited > 0);
    });
});

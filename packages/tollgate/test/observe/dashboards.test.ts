import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, describe, it } from "node:test";
import { load } from "js-yaml";
import { catalogue } from "../../src/observe/catalogue.ts";
import { describe as described } from "../../src/observe/describe-statistic.ts";
import { parseMapperFile } from "../../src/observe/sinks/pull/mapper-file.ts";
import { GrpcCaller } from "../grpc-caller.ts";
import { RedisServer } from "../servers/redis.ts";
import { type RunningTollgate, startTollgate } from "../tollgate.ts";
import { parseExposition, type ScrapedFamily } from "./exposition-parser.ts";
import { groupingOf, selectorsOf } from "./promql.ts";

const folder = new URL("../../dashboards/", import.meta.url);
const read = (name: string): string => readFileSync(new URL(name, folder), "utf8");

interface Panel {
  readonly type: string;
  readonly title: string;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly targets?: readonly { readonly expr: string }[];
}
interface Dashboard {
  readonly panels: readonly (Panel & { readonly id: number })[];
  readonly templating: {
    readonly list: readonly { readonly name: string; readonly type: string; readonly query: string }[];
  };
}
interface Alerts {
  readonly groups: readonly {
    readonly rules: readonly {
      readonly alert: string;
      readonly expr: string;
      readonly labels: Readonly<Record<string, string>>;
      readonly annotations: Readonly<Record<string, string>>;
    }[];
  }[];
}

const dashboard: Dashboard = JSON.parse(read("tollgate.json"));
const alerts = load(read("alerts.yaml")) as Alerts;
const queries = [
  ...dashboard.panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => [title, expr] as const)),
  ...alerts.groups.flatMap(({ rules }) => rules.map(({ alert, expr }) => [alert, expr] as const)),
];

/** Metrics that Prometheus itself adds to each scrape. */
const ownLabels = ["job", "instance"];
const ownMetrics = ["up"];
/** Only a service with TLS has these metrics. They are in the catalogue. */
const withTls = ["certs_load_failures"];

let redis: RedisServer;
let tollgate: RunningTollgate;
let scraped: Map<string, ScrapedFamily>;
let stats: string[];

before(async () => {
  redis = await RedisServer.start();
  tollgate = await startTollgate({
    config: {
      "shop.yaml": `
domain: shop
descriptors:
  - key: path
    rate_limit: { unit: day, requests_per_unit: 2 }
    descriptors:
      - key: user
        rate_limit: { unit: day, requests_per_unit: 1 }
        shadow_mode: true
`,
    },
    env: {
      DISABLE_STATS: "false",
      USE_PULLSTATS: "true",
      PULLSTATS_ADDR: "127.0.0.1:0",
      BACKEND_TYPE: "kvstore",
      KVSTORE_URL: redis.url,
      // The embedded store counts while the other store is unavailable, so the metrics of both exist.
      KVSTORE_FAILURE_MODE: "local",
      LOCAL_CACHE_SIZE_IN_BYTES: "1000000",
    },
  });
  const caller = new GrpcCaller(tollgate.grpc);
  const entries = (...keys: string[]) => keys.map((key) => ({ key, value: "x" }));
  const ask = (domain: string, ...keys: string[]) =>
    caller.ask({
      domain,
      descriptors: [
        { entries: entries(...keys), limit: undefined, hitsAddend: undefined, isNegativeHits: false },
      ],
      hitsAddend: 1,
    });
  for (let i = 0; i < 4; i++) {
    await ask("shop", "path");
    await ask("shop", "path", "user");
  }
  await ask("nowhere", "path");
  await assert.rejects(ask("", "path"));
  caller.close();
  const line = await tollgate.logged(/Listening for metrics on/);
  const address = /on '([^']+)'/.exec(line)![1];
  scraped = parseExposition(await (await fetch(`http://${address}/metrics`)).text());
  stats = (await (await fetch(`http://${tollgate.debug}/stats`)).text()).trimEnd().split("\n");
});

after(async () => {
  await tollgate?.stop();
  await redis?.stop();
});

function samplesOf(name: RegExp): ScrapedFamily["samples"] {
  return [...scraped.values()].flatMap(({ samples }) => samples.filter((sample) => name.test(sample.name)));
}

describe("the dashboard and the alert rules", () => {
  for (const [title, query] of queries)
    it(`use metrics and labels that a running service has: ${title}`, () => {
      const selectors = selectorsOf(query);
      assert.ok(selectors.length > 0, query);
      for (const { name, labels, text } of selectors) {
        if (ownMetrics.some((metric) => name.test(metric))) continue;
        if (withTls.some((metric) => name.test(metric))) {
          assert.ok(
            catalogue.some(({ metric }) => name.test(metric)),
            text,
          );
          continue;
        }
        const samples = samplesOf(name);
        assert.ok(samples.length > 0, `no metric for ${text}`);
        const grouped = groupingOf(query).filter((label) => label !== "__name__");
        for (const label of [...labels, ...grouped].filter((each) => !ownLabels.includes(each)))
          assert.ok(
            samples.some((sample) => label in sample.labels),
            `no label ${label} on ${text}`,
          );
      }
    });

  it("have variables with existing metrics and labels", () => {
    for (const { type, query } of dashboard.templating.list) {
      if (type !== "query") continue;
      const [, metric, label] = /^label_values\((\w+), (\w+)\)$/.exec(query)!;
      const samples = samplesOf(new RegExp(`^${metric}$`));
      assert.ok(samples.length > 0, query);
      assert.ok(ownLabels.includes(label!) || label! in samples[0]!.labels, query);
    }
  });

  it("have panels that do not overlap, each with its own title and id", () => {
    const cells = new Set<string>();
    for (const { gridPos, title } of dashboard.panels)
      for (let x = gridPos.x; x < gridPos.x + gridPos.w; x++)
        for (let y = gridPos.y; y < gridPos.y + gridPos.h; y++) {
          assert.ok(x < 24 && !cells.has(`${x},${y}`), title);
          cells.add(`${x},${y}`);
        }
    assert.equal(new Set(dashboard.panels.map(({ id }) => id)).size, dashboard.panels.length);
    assert.equal(new Set(dashboard.panels.map(({ title }) => title)).size, dashboard.panels.length);
  });

  it("have alerts with a severity and a meaning", () => {
    for (const { alert, labels, annotations } of alerts.groups.flatMap(({ rules }) => rules)) {
      assert.match(alert, /^Tollgate[A-Z]\w+$/);
      assert.ok(["critical", "warning", "info"].includes(labels.severity!), alert);
      assert.match(annotations.summary!, /\.$/, alert);
    }
  });
});

describe("a running service", () => {
  it("counts its calls", () => {
    const value = (name: string, labels: object) =>
      samplesOf(new RegExp(`^${name}$`)).find(
        (sample) => JSON.stringify(sample.labels) === JSON.stringify(labels),
      )?.value;
    const path = { domain: "shop", key1: "path" };
    assert.equal(value("ratelimit_service_rate_limit_total_hits", path), 4);
    assert.equal(value("ratelimit_service_rate_limit_over_limit", path), 2);
    assert.equal(value("ratelimit_service_rate_limit_shadow_mode", { ...path, key2: "user" }), 3);
    assert.equal(value("ratelimit_service_rate_limit_domain_not_found", { domain: "nowhere" }), 1);
    assert.equal(value("ratelimit_service_should_rate_limit_error", { err_type: "service_error" }), 1);
    assert.equal(value("ratelimit_service_total_requests", { grpc_method: "ShouldRateLimit" }), 10);
    assert.equal(
      value("ratelimit_service_response_time_seconds_count", { grpc_method: "ShouldRateLimit" }),
      10,
    );
    assert.equal(value("ratelimit_service_config_load_success", {}), 1);
  });

  it("has only statistics that the catalogue describes", () => {
    const rule = /^ratelimit\.service\.rate_limit\..*\.(\w+)$/;
    for (const line of stats) {
      const name = line
        .slice(0, line.lastIndexOf(": "))
        .replace(/\.(?:count|mean_ms|p\d+_ms|max_ms)$/, "")
        .replace(/\.__.*$/, "");
      const stat = rule.exec(name)?.[1];
      const known =
        stat === undefined ? described(name) : catalogue.find((entry) => entry.name.endsWith(`.${stat}`));
      assert.ok(known !== undefined, name);
    }
  });

  it("takes the help of every metric from the catalogue", () => {
    for (const [metric, { help }] of scraped)
      assert.ok(
        catalogue.some(({ meaning }) => meaning === help),
        `${metric}: ${help}`,
      );
  });
});

describe("docs/observability.md", () => {
  it("contains a valid mapping file", () => {
    const page = readFileSync(new URL("../../../../docs/observability.md", import.meta.url), "utf8");
    const [, yaml] = /```yaml\n(defaults:[\s\S]*?)```/.exec(page)!;
    assert.equal(parseMapperFile(yaml!, "docs").rules.length, 3);
  });
});

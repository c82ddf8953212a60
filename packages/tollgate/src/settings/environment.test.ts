import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { formatFault, SettingsError } from "./errors.ts";
import { loadSettings } from "./load-settings.ts";
import { rowsOf } from "./read-values.ts";
import { table } from "./table.ts";

const names = rowsOf(table).flatMap((row) => [row.name, ...row.aliases]);
const values = fc.oneof(
  fc.constantFrom(
    "true",
    "false",
    "0",
    "1",
    "10s",
    "0.5",
    "h:1",
    "h:1,h:2",
    "m,h:1",
    "a:b",
    "a=b",
    "cluster",
  ),
  fc.constantFrom(
    "sentinel",
    "kvstore",
    "redis",
    "objcache",
    "memcache",
    "embedded",
    "/f",
    "rediss://u:p@h:1/2",
  ),
  fc.string(),
);
const environments = fc.dictionary(
  fc.oneof({ weight: 9, arbitrary: fc.constantFrom(...names) }, fc.string()),
  values,
  { maxKeys: 12 },
);

test("any environment either loads or gives one-line faults that name a variable", () => {
  fc.assert(
    fc.property(environments, (environment) => {
      try {
        const { warnings, infos } = loadSettings(environment);
        for (const line of [...warnings, ...infos]) assert.doesNotMatch(line, /undefined|\[object/);
      } catch (error) {
        assert.ok(error instanceof SettingsError, String((error as Error).stack));
        assert.ok(error.faults.length > 0);
        for (const fault of error.faults) {
          assert.doesNotMatch(formatFault(fault), /\n|undefined|\[object/);
          assert.match(fault.message, /^(must|needs|conflicts)/);
          assert.match(fault.variable, /^[A-Za-z_]/);
        }
      }
    }),
    { numRuns: 2000 },
  );
});

test("an environment gives the same settings under our names and those of the Go service", () => {
  const ours: Record<string, string> = {
    KVSTORE_URL: "h:1,h:2",
    KVSTORE_TYPE: "cluster",
    KVSTORE_PIPELINE_WINDOW: "150us",
    KVSTORE_PERSECOND: "1",
    KVSTORE_PERSECOND_URL: "p:1",
    USE_PUSHSTATS: "t",
    PUSHSTATS_HOST: "stats",
    USE_PULLSTATS: "true",
    PULLSTATS_ADDR: ":9091",
    TRACING_SERVICE_INSTANCE_ID: "i",
  };
  const aliasOf = new Map(rowsOf(table).map((row) => [row.name, row.aliases[0] ?? row.name]));
  const theirs = Object.fromEntries(Object.entries(ours).map(([name, value]) => [aliasOf.get(name), value]));
  const plain = (environment: Record<string, string>) => {
    const { settings } = loadSettings(environment);
    return { ...settings, kvstore: { ...settings.kvstore, statisticsName: undefined } };
  };
  assert.deepEqual(plain(theirs), plain(ours));
});

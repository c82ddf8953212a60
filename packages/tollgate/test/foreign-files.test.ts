import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { runCheck } from "../src/commands/check.ts";
import { COMPILER_THREAD } from "../src/installation.ts";
import { createLogger } from "../src/observe/log.ts";
import { createStatistics } from "../src/observe/registry.ts";
import { startSinks } from "../src/observe/sinks/start.ts";
import { formatDiagnostic } from "../src/rules/diagnostic.ts";
import { FileSource } from "../src/sources/files.ts";
import { RuleCompiler } from "../src/sources/rule-compiler.ts";
import { type RunningTollgate, startTollgate } from "./tollgate.ts";

const SECRET = "hUnter2";

/** Files that are not meant for Tollgate. Each has the secret in a place where YAML reads a key, a value, a name or nothing. */
const foreign: Readonly<Record<string, string>> = {
  shadow: `root:$6$salt$${SECRET}:19000:0:99999:7:::\ndaemon:*:19000:0:99999:7:::\n`,
  word: `${SECRET}\n`,
  credentials: `[default]\naws_secret_access_key = ${SECRET}\n`,
  environment: `PASSWORD=${SECRET}\n`,
  mapping: `${SECRET}: ${SECRET}\npassword: ${SECRET}\n`,
  duplicate: `${SECRET}: 1\n${SECRET}: 2\n`,
  json: `{"private_key": "${SECRET}", "${SECRET}": 1}`,
  key: `-----BEGIN PRIVATE KEY-----\n${SECRET}\n-----END PRIVATE KEY-----\n`,
  alias: `a: *${SECRET}\n`,
  tag: `!${SECRET} x\n`,
  directive: `%${SECRET} 1\n---\na\n`,
  broken: `a: [${SECRET}\nb: }\n`,
  netrc: `machine a login b password ${SECRET}\n`,
  rules: `domain: d\ndescriptors:\n  - key: k\n    rate_limit: { unit: ${SECRET}, requests_per_unit: ${SECRET} }\n`,
};

let folder: string;
before(() => {
  folder = mkdtempSync(join(tmpdir(), "tollgate-foreign-"));
  mkdirSync(join(folder, "config"));
  for (const [name, text] of Object.entries(foreign)) writeFileSync(join(folder, name), text);
});
after(() => rmSync(folder, { recursive: true }));

/** Links a file into the configuration while `use` runs. */
async function linked<T>(name: string, use: (link: string) => Promise<T>): Promise<T> {
  const link = join(folder, "config", "linked.yaml");
  symlinkSync(join(folder, name), link);
  try {
    return await use(link);
  } finally {
    rmSync(link);
  }
}

async function check(path: string, ...options: string[]): Promise<string> {
  const output: string[] = [];
  const stream = { write: (text: string) => output.push(text) };
  await runCheck([...options, path], {
    stdout: stream,
    stderr: stream,
    env: {},
    cwd: join(folder, "config"),
  });
  return output.join("");
}

describe("errors do not quote files outside of the directory that a link leads to", () => {
  for (const name of Object.keys(foreign)) {
    test(`rules loaded by the service: ${name}`, async () => {
      const lines = await linked(name, async () => {
        const failed = Promise.withResolvers<string>();
        const source = new FileSource(
          {
            root: folder,
            subdirectory: "",
            appDirectory: "config",
            ignoreDotFiles: false,
            watchRoot: true,
            mergeDomains: false,
            compiler: new RuleCompiler(COMPILER_THREAD),
            log: createLogger({ writer: { write: () => {}, flush: async () => {}, dropped: 0 } }),
          },
          {
            onRules: () => failed.reject(new Error("the file was loaded as rules")),
            onError: (diagnostics) =>
              failed.resolve(
                diagnostics.map((one) => `${formatDiagnostic(one)} ${one.sourceLine}`).join("\n"),
              ),
            onRepeatedError: () => {},
          },
        );
        source.start();
        try {
          return await failed.promise;
        } finally {
          await source.stop();
        }
      });
      assert.match(lines, /linked\.yaml:\d+:\d+: .*link to another directory/);
      assert.ok(!lines.includes(SECRET), lines);
    });

    test(`tollgate check of the directory and of the link: ${name}`, async () => {
      await linked(name, async (link) => {
        for (const path of [join(folder, "config"), link])
          for (const format of ["text", "json", "sarif"]) {
            const output = await check(path, "--format", format);
            assert.match(output, /linked\.yaml/, output);
            assert.ok(!output.includes(SECRET), output);
          }
      });
    });

    test(`PULLSTATS_MAPPER_YAML: ${name}`, async () => {
      const log = createLogger({ writer: { write: () => {}, flush: async () => {}, dropped: 0 } });
      const pull = { address: "127.0.0.1:0", path: "/metrics", mapperFile: join(folder, name) };
      await assert.rejects(
        startSinks(createStatistics(), log, { flushInterval: 60_000, pull }),
        (error: Error) => {
          assert.match(error.message, /PULLSTATS_MAPPER_YAML: /);
          assert.ok(!error.message.includes(SECRET), error.message);
          return true;
        },
      );
    });
  }

  test("errors quote files in the directory, also behind links within it", async () => {
    writeFileSync(join(folder, "config", ".real"), "domian: d\n");
    await linked("config/.real", async (link) => {
      assert.match(await check(link), /unknown key `domian`/);
    });
  });
});

test("errors do not quote files that settings name", async () => {
  const file = join(folder, "shadow");
  const settings: Readonly<Record<string, Readonly<Record<string, string>>>> = {
    "gRPC TLS": { GRPC_SERVER_USE_TLS: "true", GRPC_SERVER_TLS_CERT: file, GRPC_SERVER_TLS_KEY: file },
    mapper: {
      DISABLE_STATS: "false",
      USE_PULLSTATS: "true",
      PULLSTATS_ADDR: "127.0.0.1:0",
      PULLSTATS_MAPPER_YAML: file,
    },
    snapshot: { EMBEDDED_STORE_SNAPSHOT: file },
    store: {
      BACKEND_TYPE: "kvstore",
      KVSTORE_URL: "127.0.0.1:1",
      STORE_REQUIRED_AT_START: "false",
      KVSTORE_TLS: "true",
      KVSTORE_TLS_CLIENT_CERT: file,
      KVSTORE_TLS_CLIENT_KEY: file,
      KVSTORE_TLS_CACERT: file,
    },
    "management server": {
      CONFIG_TYPE: "GRPC_XDS_SOTW",
      CONFIG_GRPC_XDS_SERVER_URL: "127.0.0.1:1",
      CONFIG_GRPC_XDS_SERVER_USE_TLS: "true",
      CONFIG_GRPC_XDS_SERVER_TLS_CACERT: file,
      CONFIG_GRPC_XDS_CLIENT_TLS_CERT: file,
      CONFIG_GRPC_XDS_CLIENT_TLS_KEY: file,
    },
  };
  for (const [name, env] of Object.entries(settings)) {
    const config = { "d.yaml": "domain: d\ndescriptors: []\n" };
    const tollgate: RunningTollgate = await startTollgate({
      config,
      unopened: true,
      env: { LOG_LEVEL: "debug", ...env },
    });
    await tollgate.logged(/shadow|PEM|is away|store|cannot/i).catch(() => {});
    await tollgate.stop();
    const all = [...tollgate.log, ...tollgate.output].join("\n");
    assert.ok(tollgate.log.length > 0, name);
    assert.ok(!all.includes(SECRET), `${name}: ${all}`);
  }
});

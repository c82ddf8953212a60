import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { mkdir, mkdtemp, readdir, readFile, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { type Packed, packInto, published } from "../../../tools/pack-all.ts";
import { scaled } from "../../../tools/time-scale.ts";
import { ALICE, adminAddress, adminEnv } from "./admin-support.ts";
import { PageReader, type ReaderOptions } from "./page-reader.ts";
import { bareEnvironment, watchTollgate } from "./tollgate.ts";

// The published packages: the test packs the three packages from a copy of the tree, unpacks them into an empty folder
// outside the repository, and uses them there. The libraries are those that the repository has installed, and only those
// that the packages name.

const run = promisify(execFile);
const repository = fileURLToPath(new URL("../../..", import.meta.url));
/** Unpacks packages, and links the libraries that they name, to the places that `npm install` would use. */
async function install(packages: readonly Packed[], folder: string): Promise<void> {
  const modules = join(folder, "node_modules");
  await mkdir(join(modules, ".bin"), { recursive: true });
  for (const { name, tarball } of packages) {
    const target = join(modules, "@tollway", name);
    await mkdir(target, { recursive: true });
    await run("tar", ["-xzf", tarball, "-C", target, "--strip-components=1"]);
    const { dependencies = {}, bin = {} } = JSON.parse(
      await readFile(join(target, "package.json"), "utf8"),
    ) as {
      dependencies?: Record<string, string>;
      bin?: Record<string, string>;
    };
    for (const library of Object.keys(dependencies)) {
      const link = join(modules, library);
      if (library.startsWith("@tollway/") || existsSync(link)) continue;
      await mkdir(dirname(link), { recursive: true });
      await symlink(await installed(library, name), link);
    }
    for (const [command, file] of Object.entries(bin))
      await symlink(join(target, file), join(modules, ".bin", command));
  }
}

/** A library's folder: the package's own if it has one, or else the repository's. */
function installed(library: string, name: string): Promise<string> {
  const own = join(repository, "packages", name, "node_modules", library);
  return realpath(existsSync(own) ? own : join(repository, "node_modules", library));
}

describe("the packed packages, in an empty folder", { timeout: scaled(200_000) }, () => {
  let root: string;
  let folder: string;
  let env: Record<string, string>;

  before(async () => {
    root = await mkdtemp(join(tmpdir(), "tollway-packed-"));
    folder = join(root, "user");
    await mkdir(folder);
    await install(await packInto(root), folder);
    const bin = join(folder, "node_modules", ".bin");
    env = { ...bareEnvironment, PATH: `${bin}:${dirname(process.execPath)}:${process.env.PATH}` };
  });
  after(() => rm(root, { recursive: true, force: true }));

  const command = (name: string) => join(folder, "node_modules", ".bin", name);
  const sh = (command: string) => run("sh", ["-c", command], { cwd: folder, env });

  test("contain all files that they should, and no others", async () => {
    const files = await readdir(join(folder, "node_modules", "@tollway"), { recursive: true });
    const strays = files.filter(
      (file) =>
        // The templates are the files of a new project.
        !file.startsWith("create-waymark/template/") &&
        /\.(?:test|fixture|arbitrary)\.(?!yaml$)|(?<!\.d)\.ts$|tsconfig|\.kept$/.test(file),
    );
    assert.deepEqual(strays, []);
    for (const file of [
      ...published.flatMap((name) =>
        ["CHANGELOG.md", "LICENSE", "README.md", "package.json"].map((file) => `${name}/${file}`),
      ),
      "tollgate/examples/config/web.yaml",
      "tollgate/examples/config/web.test.yaml",
      "tollgate/schema/rules.schema.json",
      "tollgate/schema/tests.schema.json",
      "tollgate/proto/envoy/service/ratelimit/v3/rls.proto",
      "tollgate/dashboards/tollgate.json",
      "tollgate/dist/service/threads/thread.js",
      "tollgate/dist/vendor/LICENSES.txt",
    ]) {
      assert.ok(files.includes(file), `${file} is not packed`);
    }
    const { engines, scripts } = JSON.parse(
      readFileSync(join(folder, "node_modules/@tollway/tollgate/package.json"), "utf8"),
    ) as { engines: unknown; scripts: unknown };
    assert.deepEqual(engines, { node: ">=24" });
    assert.equal(scripts, undefined);
  });

  test("tollgate --version, check and explain", async () => {
    assert.match((await sh("tollgate --version")).stdout, /^tollgate \d+\.\d+\.\d+\n$/);
    const rules = "node_modules/@tollway/tollgate/examples/config";
    assert.match((await sh(`tollgate check ${rules}`)).stdout, /no errors/);
    const explain = `tollgate explain --config ${rules} --domain messaging --descriptors message_type=marketing,to_number=1`;
    assert.match((await sh(explain)).stdout, /messaging\.yaml:\d+/);
  });

  test("tollgate serve --example with two threads, tollgate client, and the admin API", async () => {
    const tollgate = watchTollgate(
      spawn(command("tollgate"), ["serve", "--example"], {
        cwd: folder,
        env: {
          ...env,
          HOST: "127.0.0.1",
          GRPC_HOST: "127.0.0.1",
          DEBUG_HOST: "127.0.0.1",
          PORT: "0",
          GRPC_PORT: "0",
          DEBUG_PORT: "0",
          WORKERS: "2",
          LOG_LEVEL: "info",
          ...adminEnv,
        },
        stdio: ["ignore", "pipe", "pipe"],
      }),
    );
    try {
      await tollgate.logged(/Listening for HTTP on/);
      await tollgate.logged(/gRPC is served by 2 threads/);
      const { stdout } = await sh(
        `tollgate client -dial_string ${tollgate.grpc} -domain messaging -descriptors message_type=marketing,to_number=1`,
      );
      assert.match(stdout, /^OK {2}/);
      await tollgate.logged(/Listening for admin on/);
      const named = "-domain messaging -descriptor message_type=marketing,to_number=1";
      const operate = async (words: string) => {
        const [what, kind, ...rest] = words.split(" ");
        const address = `-admin ${adminAddress(tollgate)}`;
        const line = `TOLLGATE_ADMIN_TOKEN=${ALICE} tollgate ${what} ${kind} ${rest.join(" ")} ${address}`;
        return (await sh(line)).stdout;
      };
      assert.match(await operate(`counters reset ${named}`), /^reset \(before: 1\)\n/);
      assert.match(
        await operate(`overrides set acme ${named} -requests-per-unit 9`),
        /^acme .* limit \d+, raised to 9 by override acme of alice\n$/,
      );
      assert.match(await operate("audit -most 1"), /alice {2}overrides\.set/);
      const page = await fetch(`http://${tollgate.debug}/debug/pprof/profile?seconds=1`);
      assert.equal(page.status, 200, await page.text());
    } finally {
      assert.equal((await tollgate.stop()).code, 0, tollgate.log.join("\n"));
    }
  });

  test("the entries can be imported, and have types", async () => {
    await writeFile(
      join(folder, "tool.mts"),
      `import { formatDiagnostic, loadRules, loadSettings, Service, SettingsError } from "@tollway/tollgate";
import { createLimits, type Limits } from "@tollway/tollgate/limits";
import { GrpcServer } from "@tollway/grpc-wire";
import { Application } from "@tollway/waymark";
import schema from "@tollway/tollgate/rules.schema.json" with { type: "json" };

const { ruleSet, diagnostics } = loadRules([{ name: "a.yaml", text: "domain: a\\ndescriptors: 5\\n" }], { mergeDomains: false });
console.log(ruleSet === undefined, diagnostics.map(formatDiagnostic).join());
try {
  loadSettings({ PORT: "80x" });
} catch (error) {
  console.log(error instanceof SettingsError && error.faults[0]?.variable);
}
const environment = { BACKEND_TYPE: "embedded", RUNTIME_ROOT: ".", PORT: "0", GRPC_PORT: "0", DEBUG_PORT: "0", WORKERS: "1",
  FORCE_START_WITHOUT_INITIAL_CONFIG: "true", DISABLE_STATS: "true", LOG_LEVEL: "panic" };
const service: Service = await Service.start(loadSettings(environment), environment);
await service.opened;
console.log(service.addresses.http.startsWith("0.0.0.0:"));
await service.stop();
const limits: Limits = createLimits({ domain: "a" });
limits.close();
console.log(typeof GrpcServer, typeof Application, typeof schema);
// @ts-expect-error: a domain is a string
() => createLimits({ domain: 5 });
`,
    );
    const node = await run(process.execPath, ["tool.mts"], { cwd: folder, env });
    assert.equal(
      node.stdout,
      'true a.yaml:2:14: `descriptors` must be a list of descriptors, not "5"\nPORT\ntrue\nfunction function object\n',
    );
    await symlink(join(repository, "node_modules", "@types"), join(folder, "node_modules", "@types"));
    const flags =
      "--ignoreConfig --noEmit --strict --module nodenext --target es2024 --types node --resolveJsonModule";
    const tsc = join(repository, "node_modules", ".bin", "tsc");
    await sh(`${tsc} ${flags} tool.mts`).catch(({ stdout }: { stdout: string }) => assert.fail(stdout));
  });

  const pages = [
    "docs/getting-started.md",
    "docs/limits.md",
    "docs/observability.md",
    "docs/dashboard.md",
    "packages/tollgate/README.md",
    "docs/configuration-sources.md",
  ];
  for (const page of pages)
    test(`${page}, block by block`, async () => {
      const own = join(root, page.replaceAll("/", "-"));
      await mkdir(own);
      await symlink(join(folder, "node_modules"), join(own, "node_modules"));
      // The file that `npm init -y` writes.
      await writeFile(join(own, "package.json"), '{ "name": "user", "type": "commonjs" }\n');
      const adapt = (text: string) =>
        // A day's window does not end in the middle of the test.
        (page === "docs/limits.md" ? text.replaceAll("minute", "day").replaceAll("w=60", "w=86400") : text)
          // A busy machine must not turn a decision into an error, which lets the request pass.
          .replace("createLimits({", "createLimits({ timeout: 60_000,");
      await readPage(page, { folder: own, adapt });
    });

  test("README.md, block by block, in the repository", () => readPage("README.md", { folder: repository }));

  async function readPage(page: string, options: ReaderOptions): Promise<void> {
    const reader = new PageReader(options);
    try {
      // These pages are about a service that is running already.
      if (page === "docs/observability.md" || page === "docs/dashboard.md")
        await reader.start("npx tollgate serve --example");
      await reader.read(readFileSync(join(repository, page), "utf8"));
    } finally {
      await reader.close();
    }
  }
});

/**
 * `npm run packages`: packs the published packages, checks the tarballs with publint and attw, then installs and runs them
 * under npm, pnpm, yarn and bun. Installs these tools into `.suites`.
 *
 *   npm run packages                     fails if the tools cannot be installed
 *   npm run packages -- --if-available   prints the reason and succeeds in that case
 */
import { spawnSync } from "node:child_process";
import { existsSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { type Packed, packInto } from "./pack-all.ts";

const TOOLS = {
  "@arethetypeswrong/cli": "0.18.5",
  "@yarnpkg/cli-dist": "4.18.1",
  bun: "1.4.5",
  pnpm: "12.21.0",
  publint: "0.3.25",
};

/** Bytes that an installation of Tollgate may have, and its packages. */
const LIMITS = { bytes: 20e6, packages: 30 };

interface Manager {
  readonly install: readonly string[];
  /** Files of the folder, beside package.json. */
  readonly files?: Readonly<Record<string, string>>;
  /** The member of package.json that replaces dependencies of dependencies. */
  readonly overrides: string;
}

/** No manager runs install scripts: a package that needs one would fail. */
const MANAGERS: Readonly<Record<string, Manager>> = {
  npm: { install: ["npm", "install", "--ignore-scripts", "--no-audit", "--no-fund"], overrides: "overrides" },
  pnpm: {
    install: ["pnpm", "install", "--ignore-scripts", "--config.node-linker=isolated"],
    overrides: "pnpm",
  },
  yarn: {
    install: ["yarn", "install", "--no-immutable"],
    files: {
      ".yarnrc.yml": "nodeLinker: node-modules\nenableScripts: false\nenableTelemetry: false\n",
      "yarn.lock": "",
    },
    overrides: "resolutions",
  },
  bun: { install: ["bun", "install", "--ignore-scripts"], overrides: "overrides" },
};

const suite = join(import.meta.dirname, "..", ".suites", "packages");

function installTools(): string | undefined {
  const manifest = JSON.stringify({ private: true, dependencies: TOOLS });
  const path = join(suite, "package.json");
  if (existsSync(path) && readFileSync(path, "utf8") === manifest) return undefined;
  mkdirSync(suite, { recursive: true });
  writeFileSync(path, manifest);
  const args = ["install", "--ignore-scripts", "--no-audit", "--no-fund", "--no-package-lock", "--silent"];
  const { status, stderr } = spawnSync("npm", args, { cwd: suite, encoding: "utf8" });
  if (status === 0) return undefined;
  // The next run installs again.
  rmSync(suite, { recursive: true, force: true });
  return `npm cannot install the tools: ${stderr.trim().split("\n").at(-1) ?? ""}`;
}

/** The PATH with the installed tools. */
function toolPath(): string {
  return [
    // The package `bun` puts its program in place with an install script, which does not run.
    join(suite, "node_modules", "@oven", `bun-${process.platform}-${process.arch}`, "bin"),
    join(suite, "node_modules", ".bin"),
    dirname(process.execPath),
    process.env.PATH,
  ].join(delimiter);
}

/** @throws {Error} with the output of the command, if it fails */
function run(command: readonly string[], cwd: string): string {
  const [file, ...args] = command;
  // A variable of the npm that runs this would change what another manager does.
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^npm_/i.test(name)));
  const result = spawnSync(file!, args, {
    cwd,
    encoding: "utf8",
    env: { ...env, PATH: toolPath(), CI: "true" },
  });
  if (result.status === 0) return result.stdout;
  throw new Error(`${command.join(" ")}: ${result.error?.message ?? result.stdout + result.stderr}`);
}

/** Installs the tarballs with a manager and runs them. @returns what the installation has */
function tryManager(name: string, packed: readonly Packed[], root: string) {
  const { install, files = {}, overrides } = MANAGERS[name]!;
  const folder = join(root, name);
  mkdirSync(folder);
  const tarballs = Object.fromEntries(packed.map((one) => [`@tollway/${one.name}`, `file:${one.tarball}`]));
  const manifest = {
    name: "user",
    private: true,
    type: "module",
    dependencies: tarballs,
    [overrides]: overrides === "pnpm" ? { overrides: tarballs } : tarballs,
  };
  writeFileSync(join(folder, "package.json"), JSON.stringify(manifest));
  for (const [file, text] of Object.entries(files)) writeFileSync(join(folder, file), text);
  if (name === "pnpm") {
    const lines = Object.entries(tarballs).map(([key, value]) => `  "${key}": "${value}"\n`);
    writeFileSync(join(folder, "pnpm-workspace.yaml"), `overrides:\n${lines.join("")}`);
  }
  run(install, folder);
  const bin = join(folder, "node_modules", ".bin", "tollgate");
  const example = join(folder, "node_modules", "@tollway", "tollgate", "examples", "config");
  if (!/^tollgate \d/.test(run([bin, "--version"], folder))) throw new Error(`${name}: no version`);
  run([bin, "check", example], folder);
  writeFileSync(join(folder, "serve.mjs"), SERVE);
  run([process.execPath, "serve.mjs"], folder);
  run([join(folder, "node_modules", ".bin", "create-waymark"), "my-api"], folder);
  // Uses the packages of the folder above.
  run([process.execPath, "--test"], join(folder, "my-api"));
  const manifests = globSync(
    // pnpm keeps the packages in a hidden folder.
    ["**", ".pnpm/*/node_modules/{*,@*/*}"].map((path) => `${folder}/node_modules/${path}/package.json`),
  ).flatMap((path) => {
    const {
      name: one,
      version,
      scripts = {},
    } = JSON.parse(readFileSync(path, "utf8")) as {
      name?: string;
      version?: string;
      scripts?: Readonly<Record<string, string>>;
    };
    return one === undefined || version === undefined ? [] : [{ name: one, scripts }];
  });
  const scripted = manifests.filter(({ scripts }) =>
    ["preinstall", "install", "postinstall"].some((script) => script in scripts),
  );
  if (scripted.length > 0)
    throw new Error(`${name}: install scripts in ${scripted.map((one) => one.name).join(", ")}`);
  const bytes = Number(run(["du", "-sb", "--exclude=.cache", "node_modules"], folder).split("\t")[0]);
  return { bytes, packages: new Set(manifests.map((one) => one.name)).size };
}

/** Starts the service with two threads, and asks it through the client library. */
const SERVE = `import assert from "node:assert/strict";
import { loadSettings, Service } from "@tollway/tollgate";
import { createLimits } from "@tollway/tollgate/limits";
import { fileURLToPath } from "node:url";

const environment = { BACKEND_TYPE: "embedded", PORT: "0", GRPC_PORT: "0", DEBUG_PORT: "0", GRPC_HOST: "127.0.0.1",
  WORKERS: "2", DISABLE_STATS: "true", RUNTIME_WATCH_ROOT: "false", LOG_LEVEL: "error",
  RUNTIME_ROOT: fileURLToPath(new URL("./node_modules/@tollway/tollgate/examples", import.meta.url)) };
const service = await Service.start(loadSettings(environment), environment);
await service.opened;
const limits = createLimits({ domain: "messaging", address: service.addresses.grpc, timeout: 30_000, failure: "closed" });
const caller = { response: { headers: new Headers() } };
const statuses = [];
for (let call = 0; call < 7; call++)
  statuses.push(await limits.check(caller, { message_type: "marketing", to_number: "1" }).then(() => 200, ({ status }) => status));
assert.deepEqual(statuses, [200, 200, 200, 200, 200, 429, 429]);
limits.close();
await service.stop();
`;

const reason = installTools();
if (reason !== undefined) {
  console.error(`the packages were not tried: ${reason}`);
  process.exit(process.argv.includes("--if-available") ? 0 : 1);
}
const root = mkdtempSync(join(tmpdir(), "tollway-packages-"));
try {
  const packed = await packInto(root);
  for (const { name, tarball } of packed) {
    run(["publint", "--strict", tarball], root);
    // attw checks entries, and this package has only a command.
    if (name !== "create-waymark") run(["attw", tarball, "--profile", "esm-only", "--no-color"], root);
  }
  console.log("publint and attw: no faults");
  for (const name of Object.keys(MANAGERS)) {
    const { bytes, packages } = tryManager(name, packed, root);
    console.log(`${name}: ${packages} packages, ${(bytes / 1e6).toFixed(1)} MB, runs`);
    if (packages === 0 || bytes > LIMITS.bytes || packages > LIMITS.packages)
      throw new Error(`more than ${LIMITS.packages} packages or ${LIMITS.bytes / 1e6} MB`);
  }
} finally {
  rmSync(root, { recursive: true, force: true });
}

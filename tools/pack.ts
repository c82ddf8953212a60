/**
 * `prepack` and `postpack` of each package. In the repository, the `exports` of a package are its TypeScript sources.
 * Node runs no TypeScript under `node_modules`, so published packages contain JavaScript.
 *
 *   prepare   builds `dist` with tsc, puts the packages of `src/vendor` into it, changes `exports` to it, adds `engines`,
 *             copies the license and the changelog
 *   restore   restores package.json
 */
import { spawnSync } from "node:child_process";
import { copyFileSync, existsSync, globSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { checkRequires, NODE_BUNDLE } from "./bundle-plugins.ts";
import { licensesOf } from "./licenses.ts";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const here = process.cwd();
const manifest = join(here, "package.json");
const kept = join(here, ".package.json.kept");
const changelog = join(here, "CHANGELOG.md");

type Exports = string | { [key: string]: Exports };

function toDist(value: Exports): Exports {
  if (typeof value === "object") {
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, toDist(inner)]));
  }
  if (!value.startsWith("./src/") || !value.endsWith(".ts")) return value;
  const stem = value.slice("./src/".length, -".ts".length);
  return { types: `./dist/${stem}.d.ts`, default: `./dist/${stem}.js` };
}

/**
 * Replaces the modules of `dist/vendor`, which only re-export packages, by bundles of these packages. The packages are
 * large, bring an install script, and few of their files are used.
 */
async function bundleVendors(): Promise<void> {
  const entryPoints = globSync("src/vendor/*.ts", { cwd: here }).map((path) => join(here, path));
  if (entryPoints.length === 0) return;
  const { metafile, outputFiles } = await build({
    ...NODE_BUNDLE,
    absWorkingDir: root,
    entryPoints,
    outdir: join(here, "dist", "vendor"),
    chunkNames: "shared-[hash]",
    splitting: true,
    write: false,
  });
  for (const { path, text } of outputFiles) {
    checkRequires(text);
    writeFileSync(path, text);
  }
  const licenses = licensesOf(Object.keys(metafile.inputs), root);
  writeFileSync(join(here, "dist", "vendor", "LICENSES.txt"), licenses);
}

async function prepare(): Promise<void> {
  rmSync(join(here, "dist"), { recursive: true, force: true });
  const config = join(here, ".tsconfig.pack.json");
  writeFileSync(
    config,
    JSON.stringify({
      extends: relative(here, join(root, "tsconfig.json")),
      compilerOptions: {
        noEmit: false,
        declaration: true,
        outDir: "dist",
        rootDir: "src",
        allowImportingTsExtensions: true,
      },
      include: ["src"],
      // Tests and their fixtures.
      exclude: ["**/*.test.ts", "**/*.fixture.ts", "**/*.arbitrary.ts"],
    }),
  );
  const tsc = join(root, "node_modules", ".bin", "tsc");
  const built = spawnSync(tsc, ["-p", config], { stdio: ["ignore", 2, 2] });
  rmSync(config);
  if (built.status !== 0) process.exit(built.status ?? 1);
  await bundleVendors();
  const text = readFileSync(manifest, "utf8");
  const content = JSON.parse(text);
  writeFileSync(kept, text);
  content.exports = toDist(content.exports);
  content.engines = { node: ">=24" };
  delete content.scripts;
  delete content.devDependencies;
  writeFileSync(manifest, `${JSON.stringify(content, null, 2)}\n`);
  copyFileSync(join(root, "LICENSE"), join(here, "LICENSE"));
  if (!existsSync(changelog)) copyFileSync(join(root, "CHANGELOG.md"), changelog);
}

function isCopy(file: string): boolean {
  return existsSync(file) && readFileSync(file).equals(readFileSync(join(root, "CHANGELOG.md")));
}

function restore(): void {
  if (existsSync(kept)) renameSync(kept, manifest);
  rmSync(join(here, "LICENSE"), { force: true });
  // A release gives each package a changelog of its own, which stays.
  if (isCopy(changelog)) rmSync(changelog);
}

if (process.argv[2] === "prepare") await prepare();
else if (process.argv[2] === "restore") restore();
else {
  console.error("usage: node tools/pack.ts prepare|restore");
  process.exit(2);
}

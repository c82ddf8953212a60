/**
 * `prepack` and `postpack` of each package. In the repository, the `exports` of a package are its TypeScript sources.
 * Node runs no TypeScript under `node_modules`, so published packages contain JavaScript.
 *
 *   prepare   builds `dist` with tsc, changes `exports` to it, adds `engines`, copies the license
 *   restore   restores package.json
 */
import { spawnSync } from "node:child_process";
import { copyFileSync, existsSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const here = process.cwd();
const manifest = join(here, "package.json");
const kept = join(here, ".package.json.kept");

type Exports = string | { [key: string]: Exports };

function toDist(value: Exports): Exports {
  if (typeof value === "object") {
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, toDist(inner)]));
  }
  if (!value.startsWith("./src/") || !value.endsWith(".ts")) return value;
  const stem = value.slice("./src/".length, -".ts".length);
  return { types: `./dist/${stem}.d.ts`, default: `./dist/${stem}.js` };
}

function prepare(): void {
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
  const text = readFileSync(manifest, "utf8");
  const content = JSON.parse(text);
  writeFileSync(kept, text);
  content.exports = toDist(content.exports);
  content.engines = { node: ">=24" };
  delete content.scripts;
  writeFileSync(manifest, `${JSON.stringify(content, null, 2)}\n`);
  copyFileSync(join(root, "LICENSE"), join(here, "LICENSE"));
}

function restore(): void {
  if (existsSync(kept)) renameSync(kept, manifest);
  rmSync(join(here, "LICENSE"), { force: true });
}

if (process.argv[2] === "prepare") prepare();
else if (process.argv[2] === "restore") restore();
else {
  console.error("usage: node tools/pack.ts prepare|restore");
  process.exit(2);
}

/**
 * `npm run bundle`: writes Tollgate as one file that needs no `node_modules`, with a launcher, the example configuration
 * and the licenses of its parts.
 *
 *   npm run bundle                 into `dist/`
 *   npm run bundle -- FOLDER       into FOLDER
 */
import { chmodSync, copyFileSync, cpSync, globSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { isBuiltin } from "node:module";
import { join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { build, type Plugin } from "esbuild";

const tollgate = fileURLToPath(new URL("..", import.meta.url));
const root = join(tollgate, "..", "..");

/** Writes the bundle into a folder, which it creates. */
export async function bundle(folder: string): Promise<void> {
  mkdirSync(folder, { recursive: true });
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: [join(tollgate, "image", "entry.ts")],
    outfile: join(folder, "tollgate.mjs"),
    bundle: true,
    platform: "node",
    target: "node24",
    format: "esm",
    // Names and lines stay, for profiles and stack traces.
    minify: false,
    legalComments: "none",
    // CommonJS packages require the modules of Node.
    banner: {
      js: 'import { createRequire as requireFrom } from "node:module";\nconst require = requireFrom(import.meta.url);',
    },
    plugins: [bundledInstallation, bundledRequires],
    metafile: true,
    logLevel: "error",
  });
  checkRequires(readFileSync(join(folder, "tollgate.mjs"), "utf8"));
  writeFileSync(join(folder, "LICENSES.txt"), licensesOf(Object.keys(metafile.inputs)));
  copyFileSync(join(root, "LICENSE"), join(folder, "LICENSE"));
  cpSync(join(tollgate, "examples"), join(folder, "examples"), { recursive: true });
  const launcher = join(folder, "launcher.mjs");
  copyFileSync(join(tollgate, "image", "launcher.mjs"), launcher);
  chmodSync(launcher, 0o755);
}

const bundledInstallation: Plugin = {
  name: "installation",
  setup({ onResolve }) {
    onResolve({ filter: /\/installation\.ts$/ }, ({ kind }) =>
      kind === "entry-point" ? undefined : { path: join(tollgate, "image", "installation.ts") },
    );
  },
};

/** Makes modules that are required on demand part of the bundle. esbuild does not follow a `require` that Node made. */
const bundledRequires: Plugin = {
  name: "requires",
  setup({ onLoad }) {
    onLoad({ filter: /packages[/\\](?:tollgate|waymark|grpc-wire)[/\\]src[/\\].*\.ts$/ }, ({ path }) => {
      const text = readFileSync(path, "utf8");
      return { contents: text.replaceAll("createRequire(import.meta.url)(", "require("), loader: "ts" };
    });
    onLoad({ filter: /node_modules[/\\]@opentelemetry[/\\].*\.mjs$/ }, ({ path }) => {
      const text = readFileSync(path, "utf8");
      return { contents: text.replace(/\b__require\(/g, "require("), loader: "js" };
    });
  },
};

/** @throws {Error} if the bundle requires a package, which is not there at run time */
function checkRequires(bundled: string): void {
  const required = [...bundled.matchAll(/__require\d*\("([^"]+)"\)/g)].map(([, name]) => name!);
  const missing = required.filter((name) => !isBuiltin(name));
  if (missing.length > 0) throw new Error(`the bundle lacks ${missing.join(", ")}`);
}

function licensesOf(inputs: readonly string[]): string {
  const folders = new Set(
    inputs.flatMap((path) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? []),
  );
  return [...folders].sort().map(licenseOf).join("\n");
}

function licenseOf(folder: string): string {
  const path = join(root, folder);
  const { name, version, license } = JSON.parse(readFileSync(join(path, "package.json"), "utf8")) as Record<
    "name" | "version" | "license",
    string
  >;
  const [file] = globSync("{LICENSE,LICENCE,License,license}*", { cwd: path }).sort();
  const text =
    file === undefined
      ? `The package has no license file; it names ${license}.\n`
      : readFileSync(join(path, file), "utf8");
  return `${"=".repeat(80)}\n${name} ${version} (${license})\n${"=".repeat(80)}\n${text}`;
}

if (import.meta.main) {
  const folder = resolve(process.argv[2] ?? join(root, "dist"));
  await bundle(folder);
  console.log(`wrote ${relative(process.cwd(), folder)}/launcher.mjs, which runs Tollgate`);
}

import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, relative } from "node:path";
import { gzipSync } from "node:zlib";
import type { BuildFailure, BuildOptions, Message } from "esbuild";
import { BuildError } from "./build-error.ts";
import { checkModule } from "./check-module.ts";
import { MANIFEST, type NodeImport, ownModules } from "./own-modules.ts";
import { TARGETS, type TargetName } from "./targets.ts";

export interface BundleOptions {
  readonly target: TargetName;
  /** An absolute path. */
  readonly out: string;
  /** The folder of the application. Messages name files relative to it. */
  readonly directory: string;
  /** The module of the application and its export. Undefined: one is made for the manifest. */
  readonly app: { readonly file: string; readonly name: string } | undefined;
  /** The source of the manifest. Undefined: the application has its own. */
  readonly manifest: string | undefined;
  /** Whether the worker is deployed with the modules of Node. */
  readonly nodeCompat: boolean;
  /** What the application does not use: see `unusedParts`. */
  readonly unused: ReadonlyMap<string, string>;
}

export interface Bundle {
  readonly bytes: number;
  readonly compressed: number;
}

/** Writes one file that runs, or the module of a worker or of a function. Checks it as far as this machine can. */
export async function writeBundle(options: BundleOptions): Promise<Bundle> {
  const { build } = await loadBundler();
  const target = TARGETS[options.target];
  const { out, directory, nodeCompat } = options;
  const hasNode = target.hasNode || nodeCompat;
  const nodeImports: NodeImport[] = [];
  const manifest = options.manifest === undefined ? undefined : { text: options.manifest, folder: directory };
  const settings = {
    ...target.options,
    stdin: {
      contents: entryOf(options),
      resolveDir: directory,
      loader: "js",
      sourcefile: "waymark-entry.js",
    },
    bundle: true,
    format: "esm",
    legalComments: "none",
    write: false,
    logLevel: "silent",
    absWorkingDir: directory,
    plugins: [ownModules({ target, hasNode, manifest, nodeImports, unused: options.unused })],
  } as const satisfies BuildOptions;
  const { outputFiles } = await build(settings).catch((error: BuildFailure) => {
    throw new BuildError("NOT_BUNDLED", (error.errors ?? []).map(messageText).join("\n") || error.message);
  });
  refuseNodeImports(nodeImports, options);
  const bytes = outputFiles[0]!.contents;
  const compressed = gzipSync(bytes, { level: 9 }).length;
  const { limit } = target;
  if (limit !== undefined && compressed > limit.bytes)
    throw new BuildError(
      "NOT_PORTABLE",
      `the bundle has ${compressed} bytes compressed, and ${limit.name} may have ${limit.bytes}`,
    );
  mkdirSync(dirname(out), { recursive: true });
  writeFileSync(out, bytes);
  await checkModule(out, options.target, hasNode);
  return { bytes: bytes.length, compressed };
}

async function loadBundler(): Promise<typeof import("esbuild")> {
  try {
    return await import("esbuild");
  } catch (error) {
    throw new BuildError(
      "BUNDLER_MISSING",
      'a bundle needs a bundler: run "npm install --save-dev esbuild"',
      { cause: error },
    );
  }
}

function entryOf({ target, app, manifest }: BundleOptions): string {
  const lines = [
    app === undefined
      ? 'import { Application } from "@tollway/waymark";\nconst created = new Application();'
      : `import { ${app.name} as created } from ${JSON.stringify(app.file)};`,
    manifest === undefined
      ? "const application = created;"
      : `import { manifest } from "${MANIFEST}";\nconst application = created.startFrom(manifest);`,
  ];
  return `${lines.join("\n")}\n${TARGETS[target].entry}`;
}

function messageText({ text, location }: Message): string {
  return location === null ? text : `${location.file}:${location.line}:${location.column + 1}: ${text}`;
}

function refuseNodeImports(imports: readonly NodeImport[], { directory }: BundleOptions): void {
  if (imports.length === 0) return;
  const lines = imports.map(
    ({ specifier, importer }) => `${relative(directory, importer) || importer} imports ${specifier}`,
  );
  throw new BuildError(
    "NOT_PORTABLE",
    `a worker has no modules of Node:\n${[...new Set(lines)].map((line) => `  ${line}\n`).join("")}` +
      "use a web interface instead, select another file by a condition of the package.json's imports, or build with --node-compat and deploy with the compatibility flag nodejs_compat",
  );
}

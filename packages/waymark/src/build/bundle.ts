import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, relative } from "node:path";
import { gzipSync } from "node:zlib";
import type { BuildFailure, BuildOptions, Message } from "esbuild";
import { BuildError } from "./build-error.ts";
import { checkModule } from "./check-module.ts";
import { modulesOnly } from "./linked-text.ts";
import { MANIFEST, type NodeImport, ownModules, withoutOwnModules } from "./own-modules.ts";
import { TARGETS, type TargetName } from "./targets.ts";
import { unusedParts } from "./unused-parts.ts";
import type { Usage } from "./usage.ts";

export interface BundleOptions {
  readonly target: TargetName;
  /** The folder of the application. Messages name files relative to it. */
  readonly directory: string;
  /** The module of the application and its export. Undefined: one is made for the manifest. */
  readonly app: { readonly file: string; readonly name: string } | undefined;
  /** The source of the manifest. Undefined: the application has its own. */
  readonly manifest: string | undefined;
  /** Whether the worker is deployed with the modules of Node. */
  readonly nodeCompat: boolean;
  /** The routes and options of the application. Its code is read later. */
  readonly usage: Pick<Usage, "routes" | "options">;
}

export interface Bundle {
  readonly bytes: number;
  readonly compressed: number;
}

/** Writes one file that runs, or the module of a worker or of a function. Checks it as far as this machine can. */
export async function writeBundle(options: BundleOptions & { readonly out: string }): Promise<Bundle> {
  const { out, nodeCompat } = options;
  const { hasNode, limit } = TARGETS[options.target];
  const bytes = await bundled(options);
  const compressed = gzipSync(bytes, { level: 9 }).length;
  if (limit !== undefined && compressed > limit.bytes)
    throw new BuildError(
      "NOT_PORTABLE",
      `the bundle has ${compressed} bytes compressed, and ${limit.name} may have ${limit.bytes}`,
    );
  mkdirSync(dirname(out), { recursive: true });
  writeFileSync(out, bytes);
  await checkModule(out, options.target, hasNode || nodeCompat);
  return { bytes: bytes.length, compressed };
}

/** The bundle's bytes. Two runs of the bundler: the first shows what the application uses, the second leaves out the rest. */
export async function bundled(options: BundleOptions): Promise<Uint8Array> {
  const { build } = await loadBundler();
  const target = TARGETS[options.target];
  const { directory } = options;
  const nodeImports: NodeImport[] = [];
  const manifest = options.manifest === undefined ? undefined : { text: options.manifest, folder: directory };
  const own = { target, hasNode: target.hasNode || options.nodeCompat, manifest };
  const run = (more: BuildOptions): Promise<Uint8Array> =>
    build({
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
      logLevel: "silent",
      absWorkingDir: directory,
      ...more,
      write: false,
    }).then(
      ({ outputFiles }) => outputFiles[0]!.contents,
      (error: BuildFailure) => {
        throw new BuildError(
          "NOT_BUNDLED",
          (error.errors ?? []).map(messageText).join("\n") || error.message,
        );
      },
    );
  const code = await run({
    // A name in a comment does not count.
    minifyWhitespace: true,
    banner: {},
    plugins: [
      withoutOwnModules(),
      ownModules({
        ...own,
        // The names in a signature are not names of the application's code.
        manifest: manifest && { ...manifest, text: modulesOnly(manifest.text) },
        nodeImports: [],
        unused: new Map(),
      }),
    ],
  });
  const unused = unusedParts({
    ...options.usage,
    code: new TextDecoder().decode(code),
    hasOptions: options.app !== undefined,
    isLinked: manifest !== undefined,
    isFetch: target.isFetch,
    hasNode: own.hasNode,
  });
  const bytes = await run({ plugins: [ownModules({ ...own, nodeImports, unused })] });
  refuseNodeImports(nodeImports, options);
  return bytes;
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

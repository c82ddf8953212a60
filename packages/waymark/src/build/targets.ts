import type { BuildOptions } from "esbuild";

export type TargetName = "node" | "bun" | "deno" | "worker" | "lambda" | "lambda-stream";

/** The parts of a bundle for one runtime. */
export interface Target {
  /** The file that `--out` replaces, relative to the working directory. */
  readonly out: string;
  /** The entry of this package that `@tollway/waymark` means in the bundle. */
  readonly core: "index" | "web";
  /** The rest of the entry module. It has `application`, which starts from its manifest. */
  readonly entry: string;
  /** Whether every request is a WHATWG `Request`. */
  readonly isFetch: boolean;
  /** Whether the runtime has the modules of Node. A worker has them with `--node-compat` only. */
  readonly hasNode: boolean;
  /** Modules that the runtime itself provides, besides those of Node. */
  readonly provided: RegExp | undefined;
  /** Largest file in bytes, compressed, that the platform takes. */
  readonly limit: { readonly bytes: number; readonly name: string } | undefined;
  readonly options: BuildOptions;
}

/**
 * CommonJS packages require the modules of Node. The bundler renames what modules call `require`, but does not know the other
 * names of this line, so an import here could have the name of one in a package, and the file would not load.
 */
const REQUIRE =
  'const require = globalThis.process.getBuiltinModule("node:module").createRequire(import.meta.url);';

function server(entry: string, serve: string): string {
  return `import { main, ${serve} } from "@tollway/waymark/${entry}";\n`;
}

const MiB = 1024 ** 2;

export const TARGETS: Readonly<Record<TargetName, Target>> = {
  node: {
    out: "dist/server.mjs",
    core: "index",
    entry: `${server("server", "startServer")}await main(({ hostname, port }) => startServer(application, { host: hostname, port }));\n`,
    isFetch: false,
    hasNode: true,
    provided: undefined,
    limit: undefined,
    options: { platform: "node", target: "node24", banner: { js: REQUIRE } },
  },
  bun: {
    out: "dist/server.mjs",
    core: "web",
    entry: `${server("bun", "serve")}await main((address) => serve(application, address));\n`,
    isFetch: true,
    hasNode: true,
    provided: /^bun(?::|$)/,
    limit: undefined,
    options: { platform: "node", target: "esnext", conditions: ["bun", "node"], banner: { js: REQUIRE } },
  },
  deno: {
    out: "dist/server.mjs",
    core: "web",
    entry: `${server("deno", "serve")}await main((address) => serve(application, address));\n`,
    isFetch: true,
    hasNode: true,
    provided: /^(?:npm|jsr|https):/,
    limit: undefined,
    options: { platform: "node", target: "esnext", conditions: ["deno", "node"], banner: { js: REQUIRE } },
  },
  worker: {
    out: "dist/worker.mjs",
    core: "web",
    entry: 'import { worker } from "@tollway/waymark/worker";\nexport default worker(application);\n',
    isFetch: true,
    hasNode: false,
    provided: /^(?:cloudflare|workerd):/,
    limit: { bytes: 10 * MiB, name: "a Cloudflare worker" },
    options: {
      platform: "neutral",
      target: "es2024",
      mainFields: ["module", "main"],
      conditions: ["workerd", "worker", "browser"],
      minify: true,
    },
  },
  lambda: {
    out: "dist/index.mjs",
    core: "web",
    entry: 'import { lambda } from "@tollway/waymark/lambda";\nexport const handler = lambda(application);\n',
    isFetch: false,
    hasNode: true,
    provided: undefined,
    limit: { bytes: 50 * MiB, name: "a Lambda function" },
    options: { platform: "node", target: "node24", banner: { js: REQUIRE } },
  },
  "lambda-stream": {
    out: "dist/index.mjs",
    core: "web",
    entry:
      'import { streamingLambda } from "@tollway/waymark/lambda";\nexport const handler = streamingLambda(application);\n',
    isFetch: false,
    hasNode: true,
    provided: undefined,
    limit: { bytes: 50 * MiB, name: "a Lambda function" },
    options: { platform: "node", target: "node24", banner: { js: REQUIRE } },
  },
};

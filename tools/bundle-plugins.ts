import { readFileSync } from "node:fs";
import { isBuiltin } from "node:module";
import type { BuildOptions, Plugin } from "esbuild";

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

/** Options for bundles of modules for Node. */
export const NODE_BUNDLE = {
  bundle: true,
  platform: "node",
  target: "node24",
  format: "esm",
  // Names and lines stay, for profiles and stack traces.
  minify: false,
  legalComments: "none",
  // CommonJS packages require the modules of Node. The line declares no other name, because modules could declare it too.
  banner: {
    js: 'const require = globalThis.process.getBuiltinModule("node:module").createRequire(import.meta.url);',
  },
  plugins: [bundledRequires],
  metafile: true,
  logLevel: "error",
} as const satisfies BuildOptions;

/** @throws {Error} if a bundle requires a package, which may not be there at run time */
export function checkRequires(bundled: string): void {
  const required = [...bundled.matchAll(/__require\d*\("([^"]+)"\)/g)].map(([, name]) => name!);
  const missing = required.filter((name) => !isBuiltin(name));
  if (missing.length > 0) throw new Error(`the bundle lacks ${missing.join(", ")}`);
}

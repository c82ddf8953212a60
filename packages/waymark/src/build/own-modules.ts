import { readFileSync } from "node:fs";
import { isBuiltin } from "node:module";
import { dirname, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";
import type { Plugin } from "esbuild";
import type { Target } from "./targets.ts";
import { REFUSAL_TEXT } from "./unused-parts.ts";

const OWN = "@tollway/waymark";
const MANIFEST = "waymark:manifest";
/** The folder of this package's modules: the sources, or what a published package has. */
const SOURCES = fileURLToPath(new URL("..", import.meta.url));

/** A module relative to that folder, without its extension. */
function stem(path: string): string {
  return path
    .slice(SOURCES.length)
    .replace(/\.[jt]s$/, "")
    .split(sep)
    .join("/");
}

const PACKAGE = new URL("../../package.json", import.meta.url);

type Exports = string | { readonly [condition: string]: Exports };

/** The file of each entry of this package, by its path after the package's name. */
function entryFiles(core: Target["core"]): Map<string, string> {
  const { exports } = JSON.parse(readFileSync(PACKAGE, "utf8")) as { exports: Record<string, Exports> };
  const files = Object.entries(exports).map(([entry, value]): [string, string] => [
    OWN + entry.slice(1),
    fileURLToPath(new URL(defaultOf(value), PACKAGE)),
  ]);
  const all = new Map(files);
  if (core === "web") all.set(OWN, all.get(`${OWN}/web`)!);
  return all;
}

function defaultOf(value: Exports): string {
  return typeof value === "string" ? value : defaultOf(value.default!);
}

/** A module of Node that a bundle for a runtime without them imports. */
export interface NodeImport {
  readonly specifier: string;
  /** An absolute path. */
  readonly importer: string;
}

export interface OwnModules {
  readonly target: Target;
  /** Whether the runtime has the modules of Node. */
  readonly hasNode: boolean;
  /** The source of the manifest, and the folder that its imports are relative to. */
  readonly manifest: { readonly text: string; readonly folder: string } | undefined;
  /** Receives what the bundle may not import. */
  readonly nodeImports: NodeImport[];
  /** Imports that the bundle does not need, with the source of a module in place of each. */
  readonly unused: ReadonlyMap<string, string>;
}

/**
 * Makes every import of this package mean this copy of it and the entry for the target, provides the manifest, and
 * leaves out what the runtime provides.
 */
export function ownModules({ target, hasNode, manifest, nodeImports, unused }: OwnModules): Plugin {
  return {
    name: "waymark",
    setup({ onResolve, onLoad }) {
      const entries = entryFiles(target.core);
      // Parts with the same replacement share one module.
      const shared = new Map([...unused].map(([key, text]) => [text, key]));
      onResolve({ filter: /^@tollway\/waymark(?:\/|$)/ }, ({ path }) => {
        const file = entries.get(path);
        return file === undefined ? undefined : { path: file, sideEffects: false };
      });
      onResolve({ filter: /^waymark:manifest$/ }, ({ path }) => ({ path, namespace: "waymark" }));
      onLoad({ filter: /^waymark:manifest$/, namespace: "waymark" }, () => ({
        contents: manifest?.text ?? "",
        loader: "ts",
        resolveDir: manifest?.folder ?? "",
      }));
      onResolve({ filter: /^waymark:refusal$/ }, ({ path }) => ({ path, namespace: "waymark" }));
      onLoad({ filter: /^waymark:refusal$/, namespace: "waymark" }, () => ({ contents: REFUSAL_TEXT }));
      onResolve({ filter: /^[a-z]/ }, ({ path, importer }) => {
        if (target.provided?.test(path) === true) return { path, external: true };
        if (!isBuiltin(path)) return undefined;
        if (!hasNode) nodeImports.push({ specifier: path, importer });
        return { path: path.includes(":") ? path : `node:${path}`, external: true };
      });
      onResolve({ filter: /^\.\.?\// }, ({ path, importer }) => {
        if (!importer.startsWith(SOURCES)) return undefined;
        const key = `${stem(importer)}>${stem(resolve(dirname(importer), path))}`;
        const text = unused.get(key);
        return text === undefined ? undefined : { path: shared.get(text)!, namespace: "waymark-unused" };
      });
      onLoad({ filter: /./, namespace: "waymark-unused" }, ({ path }) => ({
        contents: unused.get(path)!,
        loader: "js",
        resolveDir: SOURCES,
      }));
    },
  };
}

/** Leaves this package out of a bundle, except its kit: what remains is the code of the application. */
export function withoutOwnModules(): Plugin {
  return {
    name: "without-waymark",
    setup({ onResolve }) {
      onResolve({ filter: /^@tollway\/waymark(?:\/|$)/ }, ({ path }) =>
        path.startsWith(`${OWN}/kit`) ? undefined : { path, external: true },
      );
      onResolve({ filter: /^\.\.?\// }, ({ path, importer }) => {
        if (!importer.startsWith(SOURCES)) return undefined;
        const to = stem(resolve(dirname(importer), path));
        return to.startsWith("kit/") ? undefined : { path: `${OWN}/${to}`, external: true };
      });
    },
  };
}

export { MANIFEST };

import { isBuiltin } from "node:module";
import { fileURLToPath } from "node:url";
import type { Plugin } from "esbuild";
import type { Target } from "./targets.ts";

const OWN = "@tollway/waymark";
const MANIFEST = "waymark:manifest";
const EXTENSION = import.meta.url.endsWith(".ts") ? "ts" : "js";

/** The file of an entry of this package: `web`, `worker`. */
function entryFile(name: string): string {
  return fileURLToPath(new URL(`../${name}.${EXTENSION}`, import.meta.url));
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
  /** Modules that the bundle does not need, with the source that replaces each. */
  readonly replaced: ReadonlyMap<string, string>;
}

/**
 * Makes every import of this package mean this copy of it and the entry for the target, provides the manifest, and
 * leaves out what the runtime provides.
 */
export function ownModules({ target, hasNode, manifest, nodeImports, replaced }: OwnModules): Plugin {
  return {
    name: "waymark",
    setup({ onResolve, onLoad }) {
      onResolve({ filter: /^@tollway\/waymark(?:\/[a-z]+)?$/ }, ({ path }) => ({
        path: entryFile(path === OWN ? target.core : path.slice(OWN.length + 1)),
        sideEffects: false,
      }));
      onResolve({ filter: /^waymark:manifest$/ }, ({ path }) => ({ path, namespace: "waymark" }));
      onLoad({ filter: /^waymark:manifest$/, namespace: "waymark" }, () => ({
        contents: manifest?.text ?? "",
        loader: "ts",
        resolveDir: manifest?.folder ?? "",
      }));
      onResolve({ filter: /^[a-z]/ }, ({ path, importer }) => {
        if (target.provided?.test(path) === true) return { path, external: true };
        if (!isBuiltin(path)) return undefined;
        if (!hasNode) nodeImports.push({ specifier: path, importer });
        return { path: path.includes(":") ? path : `node:${path}`, external: true };
      });
      onLoad({ filter: /waymark[/\\](?:src|dist)[/\\]/ }, ({ path }) => {
        const contents = replaced.get(path);
        return contents === undefined ? undefined : { contents, loader: "js" };
      });
    },
  };
}

export { MANIFEST };

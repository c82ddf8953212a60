import { existsSync, readFileSync, realpathSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { exports as packageExports, imports as packageImports } from "resolve.exports";

/** Source extensions that TypeScript uses, by the extension of an import. */
const SOURCE_EXTENSIONS: readonly (readonly [written: string, source: readonly string[]])[] = [
  [".js", [".ts", ".d.ts"]],
  [".mjs", [".mts", ".d.mts"]],
  [".cjs", [".cts", ".d.cts"]],
];
const EXTENSIONS = ["", ".ts", ".mts", ".d.ts", ".js", ".mjs"];
/** The conditions of a package's types first, then those of Node. */
const CONDITIONS = {
  conditions: ["types", "node", "import", "module-sync", "default"],
  unsafe: true,
} as const;

/**
 * The file with the types of an imported module. Supports relative and absolute paths, `#` imports, packages and
 * workspace links through their `exports`. Undefined if no file exists, and for Node's own modules. A type import may
 * omit the extension, because Node never loads it.
 */
export function resolveModule(specifier: string, importer: string): string | undefined {
  if (specifier.startsWith("node:")) return undefined;
  if (specifier.startsWith("file:")) return findSource(fileURLToPath(specifier));
  if (/^\.{0,2}\//.test(specifier) || specifier === "." || specifier === "..") {
    return findSource(resolve(dirname(importer), specifier));
  }
  return specifier.startsWith("#") ? resolveImport(specifier, importer) : resolvePackage(specifier, importer);
}

function findSource(path: string): string | undefined {
  const candidates = [
    ...SOURCE_EXTENSIONS.flatMap(([written, sources]) =>
      path.endsWith(written) ? sources.map((source) => path.slice(0, -written.length) + source) : [],
    ),
    ...EXTENSIONS.map((extension) => path + extension),
    ...EXTENSIONS.slice(1).map((extension) => join(path, `index${extension}`)),
  ];
  const found = candidates.find((candidate) => statSync(candidate, { throwIfNoEntry: false })?.isFile());
  return found && realpathSync(found);
}

function resolveImport(specifier: string, importer: string): string | undefined {
  const root = ascend(dirname(importer), (folder) => existsSync(join(folder, "package.json")));
  if (!root) return undefined;
  const target = firstTarget(() => packageImports(readPackage(root), specifier, CONDITIONS));
  if (!target) return undefined;
  return target.startsWith(".")
    ? findSource(join(root, target))
    : resolvePackage(target, join(root, "package.json"));
}

function resolvePackage(specifier: string, importer: string): string | undefined {
  const [name] = /^(?:@[^/]+\/)?[^/]+/.exec(specifier) ?? [""];
  const holder = ascend(dirname(importer), (folder) =>
    existsSync(join(folder, "node_modules", name, "package.json")),
  );
  // A package may import itself by its own name.
  const own = ascend(dirname(importer), (folder) => existsSync(join(folder, "package.json")));
  const isOwn = own !== undefined && readPackage(own).name === name;
  const root = isOwn ? own : holder && join(holder, "node_modules", name);
  if (!root) return undefined;
  const manifest = readPackage(root);
  if (manifest.exports !== undefined) {
    const target = firstTarget(() => packageExports(manifest, specifier, CONDITIONS));
    return target && findSource(join(root, target));
  }
  const path = specifier.slice(name.length + 1);
  return findSource(join(root, path || manifest.types || manifest.typings || manifest.main || "index.js"));
}

interface PackageManifest {
  readonly name: string;
  readonly exports?: unknown;
  readonly types?: string;
  readonly typings?: string;
  readonly main?: string;
}

function readPackage(folder: string): PackageManifest {
  return JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
}

/** `resolve.exports` throws if a map has no entry. */
function firstTarget(find: () => unknown): string | undefined {
  try {
    return (find() as readonly string[] | undefined)?.[0];
  } catch {
    return undefined;
  }
}

/** The nearest folder that fits: the folder itself or one above it. */
function ascend(folder: string, fits: (folder: string) => boolean): string | undefined {
  if (fits(folder)) return folder;
  const parent = dirname(folder);
  return parent === folder ? undefined : ascend(parent, fits);
}

import { readdirSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { segmentOfModule } from "./segment-names.ts";
import { StartError } from "./start-error.ts";

/** A module found under a prefix: a file, a folder, or both with one name. */
export interface FoundModule {
  /** The dotted name from the prefix on: `app.controllers.users`. */
  name: string;
  /** An absolute path. Undefined for a folder without an index. */
  file: string | undefined;
  /** Submodules by path segment, sorted. */
  children: Map<string, FoundModule>;
}

const EXTENSIONS = [".ts", ".mts", ".js", ".mjs"];
/** Extensions of modules that cannot be controllers, with the extension to use instead. */
const UNSUPPORTED: readonly (readonly [extension: string, reason: string, instead: string])[] = [
  [".tsx", "Node does not run .tsx", ".ts"],
  [".jsx", "Node does not run .jsx", ".js"],
  [".cts", "controllers are ES modules, and .cts is CommonJS", ".ts"],
  [".cjs", "controllers are ES modules, and .cjs is CommonJS", ".mjs"],
];
const SKIPPED = /^[._]|^node_modules$|\.d\.[cm]?ts$|\.(test|spec)\.[cm]?[jt]sx?$/;
const PREFIX = /^[\p{ID_Start}$_][\p{ID_Continue}$-]*(\.[\p{ID_Start}$_][\p{ID_Continue}$-]*)*$/u;
/** A deeper tree contains links that lead back into it. */
const MAX_DEPTH = 30;

/** Finds the modules under a dotted prefix in a directory. */
export function discover(prefix: string, directory: string): FoundModule {
  if (!PREFIX.test(prefix)) {
    throw new StartError(
      "INVALID_PREFIX",
      `"${prefix}" is not a dotted module path such as "app.controllers" (file paths are not supported)`,
    );
  }
  const path = join(directory, ...prefix.split("."));
  const base = path.slice(dirname(path).length + 1);
  const files = EXTENSIONS.map((extension) => base + extension).filter((name) =>
    isFile(join(dirname(path), name)),
  );
  for (const [extension] of UNSUPPORTED) refuseUnsupported(path + extension);
  const folder = isFolder(path) ? path : undefined;
  if (files.length === 0 && folder === undefined) {
    const shown = relative(process.cwd(), path) || path;
    throw new StartError(
      "PREFIX_NOT_FOUND",
      `the module "${prefix}" does not exist: looked for ${shown}.{ts,mts,js,mjs} and ${shown}/ in ${directory}`,
    );
  }
  return moduleOf(
    prefix,
    files.map((name) => join(dirname(path), name)),
    folder,
    0,
  );
}

function moduleOf(name: string, files: string[], folder: string | undefined, depth: number): FoundModule {
  if (depth > MAX_DEPTH)
    throw new StartError("AMBIGUOUS_MODULE", `${folder}: a link leads back into the folder`);
  const entries = folder === undefined ? [] : readdirSync(folder).sort();
  const claims = [...files];
  for (const entry of entries) {
    if (!SKIPPED.test(entry)) refuseUnsupported(join(folder!, entry));
    const stem = stemOf(entry);
    if (stem === "index" && isFile(join(folder!, entry))) claims.push(join(folder!, entry));
  }
  if (claims.length > 1) {
    throw new StartError(
      "AMBIGUOUS_MODULE",
      `${claims.join(" and ")} provide the same module "${name}": keep one`,
    );
  }
  return {
    name,
    file: claims[0] === undefined ? undefined : realpathSync(claims[0]),
    children: folder === undefined ? new Map() : childrenOf(name, folder, entries, depth),
  };
}

function childrenOf(
  name: string,
  folder: string,
  entries: string[],
  depth: number,
): Map<string, FoundModule> {
  const claims = new Map<string, { stems: Set<string>; files: string[]; folder: string | undefined }>();
  const claim = (stem: string) => {
    const segment = segmentOfModule(stem);
    let found = claims.get(segment);
    if (found === undefined) {
      found = { stems: new Set(), files: [], folder: undefined };
      claims.set(segment, found);
    }
    found.stems.add(stem);
    return found;
  };
  for (const entry of entries) {
    if (SKIPPED.test(entry)) continue;
    const path = join(folder, entry);
    const stem = stemOf(entry);
    if (isFolder(path)) claim(entry).folder = path;
    else if (stem !== undefined && stem !== "index") claim(stem).files.push(path);
  }
  const children = new Map<string, FoundModule>();
  for (const [segment, { stems, files, folder: inner }] of claims) {
    if (stems.size > 1) {
      const names = [...stems].map((stem) => join(folder, stem)).join(" and ");
      throw new StartError("AMBIGUOUS_MODULE", `${names} have the same path, "${segment}": keep one`);
    }
    children.set(segment, moduleOf(`${name}.${[...stems][0]}`, files, inner, depth + 1));
  }
  return children;
}

/** If such a file were skipped silently, its paths would answer 404. */
function refuseUnsupported(path: string): void {
  const found = UNSUPPORTED.find(([extension]) => path.endsWith(extension));
  if (found === undefined || !isFile(path)) return;
  const [extension, reason, instead] = found;
  const name = basename(path);
  const renamed = name.slice(0, -extension.length) + instead;
  throw new StartError(
    "UNSUPPORTED_MODULE",
    `${path}: ${reason}: rename it to ${renamed}, or to _${name} if it has no controllers`,
  );
}

/** The name without its extension. Undefined for files that are not modules. */
function stemOf(entry: string): string | undefined {
  const extension = EXTENSIONS.find((each) => entry.endsWith(each));
  if (extension === undefined || SKIPPED.test(entry)) return undefined;
  return entry.slice(0, -extension.length);
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

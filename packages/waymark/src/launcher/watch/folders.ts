import { existsSync, globSync } from "node:fs";
import { basename, extname, join, resolve, sep } from "node:path";
import { type ApplicationOptions, prefixesOf } from "../../application/options.ts";

/** The folders of the controllers. Watching them detects new files that no module imports yet. */
export function controllerFolders(options: ApplicationOptions): string[] {
  return (prefixPaths(options) ?? []).flatMap((folder) => {
    if (!existsSync(folder)) return [];
    const inner = globSync("**/", { cwd: folder, exclude: ["**/node_modules"] });
    return [folder, ...inner.map((each) => join(folder, each).replace(/\/$/, ""))];
  });
}

/** Whether a new file or folder may be a controller. Editors and databases write others. */
export function mayBeController(path: string): boolean {
  return /^[^.#~][^.]*(?:\.[cm]?[jt]sx?)?$/.test(basename(path));
}

/** The test for files of an application's controllers: a module and its folder. Undefined without a prefix. */
export function controllerFiles(options: ApplicationOptions): ((file: string) => boolean) | undefined {
  const paths = prefixPaths(options);
  return (
    paths &&
    ((file) =>
      !file.includes(`${sep}node_modules${sep}`) &&
      paths.some((path) => file.startsWith(path + sep) || file === path + extname(file)))
  );
}

/** The prefixes as paths without extensions. Undefined for an application without a prefix. */
function prefixPaths(options: ApplicationOptions): string[] | undefined {
  if (options.controllers !== undefined || options.manifest !== undefined) return undefined;
  const directory = resolve(options.directory ?? ".");
  return prefixesOf(options, process.env.FRAMEWORK_PREFIX).map((prefix) =>
    join(directory, ...prefix.split(".")),
  );
}

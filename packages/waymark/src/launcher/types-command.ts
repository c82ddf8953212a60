import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, relative, resolve } from "node:path";
import type { Application } from "../application/application.ts";
import { prefixesOf } from "../application/options.ts";
import { isController } from "../controller/controller.ts";
import { type BarrelModule, barrelText, type HiddenNames } from "../declarations/barrel.ts";
import { clientTable, tableText } from "../declarations/client-table.ts";
import { routeTree } from "../declarations/route-tree.ts";
import { standaloneText } from "../declarations/standalone.ts";
import { discover, type FoundModule } from "../routing/discover.ts";
import { loadFile } from "../routing/load.ts";
import type { Routes } from "../routing/routes.ts";
import type { Arguments } from "./arguments.ts";
import { LauncherError } from "./launcher-error.ts";
import { applicationOf } from "./load-application.ts";

const DEFAULT_OUT = "waymark.api.d.ts";

/** Writes the declaration file of the typed client, and with `--table` its table. */
export async function types(args: Arguments): Promise<number> {
  const application = await applicationOf(args);
  const routes = await application.describe();
  const out = args.out ?? DEFAULT_OUT;
  if (args.standalone) {
    write(out, "--out", standaloneText(routeTree(routes)));
    if (args.table !== undefined) await writeTypes(application, routes, { table: args.table });
  } else await writeTypes(application, routes, { types: out, table: args.table });
  return 0;
}

/** Writes the files that have changed. */
export async function writeTypes(
  { options }: Application,
  routes: Routes,
  { types: out, table }: { readonly types?: string | undefined; readonly table?: string | undefined },
): Promise<void> {
  if (out !== undefined) {
    if (options.controllers !== undefined || options.manifest !== undefined)
      throw new LauncherError(
        "the declaration file names the controllers' files, which only an application with a prefix knows: write it with --standalone",
        2,
      );
    const directory = resolve(options.directory ?? process.cwd());
    const found = prefixesOf(options, process.env.FRAMEWORK_PREFIX).map((prefix) =>
      discover(prefix, directory),
    );
    write(out, "--out", barrelText(await barrelOf(found), dirname(resolve(out))));
  }
  if (table !== undefined)
    write(table, "--table", tableText(clientTable(routeTree(routes)), /\.[cm]?ts$/.test(table)));
}

/** The modules of all prefixes as one tree. */
async function barrelOf(modules: readonly FoundModule[]): Promise<BarrelModule> {
  const files: BarrelModule["files"][number][] = [];
  for (const { file } of modules)
    if (file !== undefined) files.push({ file, hidden: hiddenNames(await loadFile(file)) });
  const children = new Map<string, BarrelModule>();
  const segments = new Set(modules.flatMap((module) => [...module.children.keys()]));
  for (const segment of [...segments].sort()) {
    const same = modules.flatMap((module) => module.children.get(segment) ?? []);
    children.set(segment, await barrelOf(same));
  }
  return { files, children };
}

/** The controllers that only `static private = true` keeps from having a path. Types do not show it. */
function hiddenNames(owner: object, above: ReadonlySet<unknown> = new Set()): HiddenNames {
  const names: string[] = [];
  const within = new Map<string, HiddenNames>();
  for (const [name, { value }] of Object.entries(Object.getOwnPropertyDescriptors(owner))) {
    if (!isController(value) || above.has(value)) continue;
    if (Object.hasOwn(value, "private") && value.private === true) {
      names.push(name);
    } else {
      const inner = hiddenNames(value, new Set([...above, value]));
      if (inner.names.length + inner.within.size > 0) within.set(name, inner);
    }
  }
  return { names, within };
}

/** An unchanged file is left alone, so that a watcher of it has nothing to do. */
function write(file: string, option: string, text: string): void {
  const path = resolve(file);
  if (!existsSync(dirname(path)))
    throw new LauncherError(`${option}=${file}: the folder ${dirname(path)} does not exist`, 2);
  if (existsSync(path) && readFileSync(path, "utf8") === text) return;
  writeFileSync(path, text);
  console.error(`wrote ${relative(process.cwd(), path) || path}`);
}

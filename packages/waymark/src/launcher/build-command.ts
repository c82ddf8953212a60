import { existsSync, writeFileSync } from "node:fs";
import { dirname, relative, resolve } from "node:path";
import { Application } from "../application/application.ts";
import { prefixesOf } from "../application/options.ts";
import { linkedText } from "../build/linked-text.ts";
import { manifestText } from "../build/manifest-text.ts";
import { TARGETS } from "../build/targets.ts";
import { discover, type FoundModule } from "../routing/discover.ts";
import type { Arguments } from "./arguments.ts";
import { LauncherError } from "./launcher-error.ts";
import { applicationOf, exportName } from "./load-application.ts";

/**
 * Writes the manifest: a module that imports every controller and contains their signatures. A bundler can follow its
 * imports, and startup needs neither sources nor a parser. With a target, writes one file with everything.
 */
export async function build(args: Arguments): Promise<number> {
  if (args.target !== undefined) return bundle(args, args.target);
  if (args.nodeCompat) throw new LauncherError("--node-compat needs --target=worker", 2);
  if (args.app !== undefined || args.manifest !== undefined)
    throw new LauncherError(
      'without --target, "waymark build" only supports --prefix: your own application can import the manifest',
      2,
    );
  const application = await applicationOf(args);
  const out = resolve(args.out ?? "waymark.manifest.ts");
  const { roots, origins } = await application.describe();
  const text = manifestText(modulesOf(application), roots, origins, out);
  if (!existsSync(dirname(out))) throw new LauncherError(`--out=${args.out}: the folder does not exist`, 2);
  writeFileSync(out, text);
  console.error(`wrote ${shown(out)}`);
  return 0;
}

async function bundle(args: Arguments, target: NonNullable<Arguments["target"]>): Promise<number> {
  if (args.manifest !== undefined)
    throw new LauncherError("--target makes a manifest of its own: leave --manifest out", 2);
  if (args.nodeCompat && target !== "worker")
    throw new LauncherError(
      "--node-compat needs --target=worker: the other runtimes have the modules of Node",
      2,
    );
  const directory = resolve(args.dir);
  const application = await applicationOf(args);
  const { options } = application;
  const routes = await application.describe();
  const isOwn = options.controllers !== undefined || options.manifest !== undefined;
  // The bundle contains the classes of a table. It does not contain types that only their sources show.
  if (isOwn) await new Application({ ...options, openapi: false }).load();
  const out = resolve(args.out ?? TARGETS[target].out);
  const { writeBundle } = await import("../build/bundle.ts");
  const app = args.app === undefined ? undefined : resolve(directory, args.app);
  const { bytes, compressed } = await writeBundle({
    target,
    out,
    directory,
    app: app === undefined ? undefined : { file: app, name: await exportName(app) },
    manifest: isOwn
      ? undefined
      : await linkedText(modulesOf(application), routes.roots, {
          folder: directory,
          documented: options.openapi !== undefined && options.openapi !== false,
        }),
    nodeCompat: args.nodeCompat,
    usage: { routes, options },
  });
  console.error(`wrote ${shown(out)}: ${kilobytes(bytes)}, ${kilobytes(compressed)} compressed`);
  return 0;
}

function modulesOf({ options }: Application): FoundModule[] {
  const directory = resolve(options.directory ?? ".");
  const prefixes = prefixesOf(options, process.env.FRAMEWORK_PREFIX);
  return prefixes.map((prefix) => discover(prefix, directory));
}

function shown(out: string): string {
  return relative(process.cwd(), out) || out;
}

function kilobytes(bytes: number): string {
  return `${(bytes / 1000).toFixed(1)} kB`;
}

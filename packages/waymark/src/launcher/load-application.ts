import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { NodeApplication as Application } from "../application/node/node-application.ts";
import { loadFile } from "../routing/load.ts";
import type { Manifest } from "../routing/manifest.ts";
import type { Arguments } from "./arguments.ts";
import { LauncherError } from "./launcher-error.ts";

/** The application for a command line: the one from `--app`, or a new one for a prefix. */
export async function applicationOf(args: Arguments): Promise<Application> {
  const directory = resolve(args.dir);
  if (!existsSync(directory)) throw new LauncherError(`--dir=${args.dir}: the folder does not exist`, 2);
  if (args.app !== undefined) return exported(args.app, directory);
  const debug = args.debug ? { debug: true } : {};
  if (args.manifest !== undefined) {
    const { manifest } = await loadFile(existing(args.manifest, directory, "--manifest"));
    if (typeof manifest !== "object" || manifest === null)
      throw new LauncherError(`${args.manifest} does not export "manifest": create it with "waymark build"`);
    return new Application({ manifest: manifest as Manifest, ...debug });
  }
  const prefix = args.prefix.length > 0 ? { controllerPrefix: args.prefix } : {};
  return new Application({ ...prefix, directory, ...debug });
}

async function exported(file: string, directory: string): Promise<Application> {
  const namespace = await loadFile(existing(file, directory, "--app"));
  const application = namespace[nameIn(namespace)];
  if (!isApplication(application))
    throw new LauncherError(
      `${file} does not export an Application: export const application = new Application({ ... })`,
    );
  return application;
}

function nameIn(namespace: Readonly<Record<string, unknown>>): "application" | "default" {
  return (namespace.application ?? undefined) === undefined ? "default" : "application";
}

/** The export that is the application of a module. */
export async function exportName(file: string): Promise<"application" | "default"> {
  return nameIn(await loadFile(file));
}

function existing(file: string, directory: string, option: string): string {
  const path = resolve(directory, file);
  if (!existsSync(path))
    throw new LauncherError(`${option}=${file}: the file does not exist in ${directory}`, 2);
  return path;
}

/** Checks the shape, because the application may come from another copy of this package. */
function isApplication(value: unknown): value is Application {
  return (
    typeof value === "object" &&
    value !== null &&
    "handle" in value &&
    typeof value.handle === "function" &&
    "ready" in value &&
    typeof value.ready === "function"
  );
}

import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { SignatureError } from "../model/signature-error.ts";

/** The version that this version of Waymark is tested with. */
export const COMPILER_VERSION = "7.0.2";
/** The interface of later major versions is unknown. */
const MAJOR = "7";

/** The compiler cannot be used. The message has the reason and the version to install. */
export class CompilerUnavailable extends Error {
  override readonly name = "CompilerUnavailable";
  readonly code = "COMPILER_UNAVAILABLE";
}

export interface LoadedTypeScript<Module> {
  readonly module: Module;
  readonly version: string;
  /** The path of its package.json. */
  readonly path: string;
}

/**
 * Loads the interface of the TypeScript compiler that is installed for the project, else the one beside Waymark.
 *
 * @throws CompilerUnavailable without one, or with a version that has no such interface
 */
export function loadTypeScript<Module>(directory: string, specifier: string): LoadedTypeScript<Module> {
  for (const from of [join(directory, "package.json"), import.meta.filename]) {
    const require = createRequire(from);
    const manifest = findPackage(require);
    if (!manifest) continue;
    const { version } = JSON.parse(readFileSync(manifest, "utf8")) as { version: string };
    if (version.split(".")[0] !== MAJOR)
      throw unavailable(`TypeScript ${version} is installed in ${dirname(manifest)}`);
    try {
      return { module: require(specifier) as Module, version, path: manifest };
    } catch (error) {
      throw unavailable(
        `TypeScript ${version} in ${dirname(manifest)} has no usable compiler (${(error as Error).message.split("\n")[0]})`,
      );
    }
  }
  throw unavailable("TypeScript is not installed");
}

function findPackage(require: NodeJS.Require): string | undefined {
  for (const folder of require.resolve.paths("typescript") ?? []) {
    const manifest = join(folder, "typescript", "package.json");
    if (existsSync(manifest)) return manifest;
  }
  return undefined;
}

function unavailable(reason: string): CompilerUnavailable {
  return new CompilerUnavailable(`${reason}: run \`npm i -D typescript@${COMPILER_VERSION}\``);
}

/** The error for a type that only the compiler can read, if there is no compiler. */
export function withoutCompiler(error: SignatureError, cause: CompilerUnavailable): SignatureError {
  const { location } = error;
  const place = location ? `${location.file}:${location.line}:${location.column}: ` : "";
  const own = error.message.startsWith(place) ? error.message.slice(place.length) : error.message;
  return new SignatureError(
    error.code,
    `${own} TypeScript's compiler may read it, but ${cause.message}`,
    location,
  );
}

import { acceptedVersions } from "../http/accept-version.ts";
import { HttpError } from "../http/http-error.ts";
import type { Incoming } from "../http/incoming.ts";
import { allowedMethods } from "../routing/allow.ts";
import { resolve } from "../routing/resolve-path.ts";
import type { RouteModule, Routes } from "../routing/routes.ts";
import { lookUp, segmentOfModule } from "../routing/segment-names.ts";
import { StartError } from "../routing/start-error.ts";

/** Versions that a client asks for with `Accept`. Each is a module under the prefix. */
export interface VersionsOptions {
  /** The names of the modules: `["v1", "v2"]`. */
  readonly names: readonly string[];
  /** Also accepts `application/vnd.VENDOR.v2+json`. */
  readonly vendor?: string;
}

/** Picks the module of a request's version. */
export class Versions {
  readonly #segments: ReadonlySet<string>;
  readonly #options: VersionsOptions;

  constructor(options: VersionsOptions) {
    this.#options = options;
    this.#segments = new Set(options.names.map(segmentOfModule));
  }

  /**
   * The path with its version. A request without a version has the path as it is, and a version in the path stays.
   * @throws {HttpError} 406 for a version that does not exist, and for two versions
   */
  select(incoming: Incoming, segments: readonly string[]): readonly string[] {
    const accept = incoming.header("accept");
    const own = segments[0] === undefined ? undefined : segmentOfModule(segments[0]);
    const inPath = own !== undefined && this.#segments.has(own) ? own : undefined;
    const version = accept === undefined || accept === "" ? undefined : this.#choose(accept);
    if (version === undefined || version === inPath) return segments;
    if (inPath !== undefined)
      throw new HttpError(406, `the path names version ${inPath}, but Accept asks for ${version}`);
    return [version, ...segments];
  }

  /** The methods of a path in all versions. A preflight does not tell the version of its request. */
  allowed({ roots }: Routes, segments: readonly string[]): string[] {
    const all = new Set<string>();
    for (const version of ["", ...this.#segments]) {
      const target = resolve(roots, version === "" ? segments : [version, ...segments]);
      const methods = target && allowedMethods(target.route, target.positionals.length);
      for (const method of methods ?? []) all.add(method);
    }
    return [...all];
  }

  #choose(accept: string): string | undefined {
    const asked = acceptedVersions(accept, this.#options.vendor);
    for (const version of asked) {
      if (version === undefined) return undefined;
      const segment = segmentOfModule(version);
      if (this.#segments.has(segment)) return segment;
    }
    if (asked.length === 0) return undefined;
    const unknown = JSON.stringify(asked[0]!.slice(0, 100));
    throw new HttpError(
      406,
      `there is no version ${unknown}: the versions are ${[...this.#segments].join(", ")}`,
    );
  }
}

/** @throws {StartError} if a version has no module */
export function checkVersions({ names }: VersionsOptions, roots: readonly RouteModule[]): void {
  for (const name of names) {
    if (roots.some(({ children }) => lookUp(children, segmentOfModule(name)) !== undefined)) continue;
    const places = roots.map((root) => `${root.name}.${name}`).join(" or ");
    throw new StartError(
      "INVALID_OPTION",
      `versions: "${name}" needs the module ${places}, which does not exist`,
    );
  }
}

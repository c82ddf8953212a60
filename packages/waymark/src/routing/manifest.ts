import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { MethodSignature } from "../signature/model/signature.ts";
import type { ModuleEntry, SignatureOf } from "./build-routes.ts";
import { classesOf, type FoundClass } from "./classes.ts";
import type { Namespace } from "./load.ts";
import { StartError } from "./start-error.ts";

/** The output of `waymark build`: an application starts from it without sources and parser. */
export interface Manifest {
  readonly version: 2;
  readonly modules: readonly ManifestModule[];
  /** The other files that a type comes from. */
  readonly files?: readonly ManifestFile[];
  /** The packages that a type comes from, and the compiler. */
  readonly packages?: readonly ManifestPackage[];
}

export interface ManifestFile {
  /** As {@link ManifestModule.source}. */
  readonly source?: string | undefined;
  readonly hash: string;
}

export interface ManifestPackage {
  readonly name: string;
  readonly version: string;
  /** The URL of its package.json, resolved like {@link ManifestModule.source}. */
  readonly source?: string | undefined;
}

export interface ManifestModule {
  /** The index of its prefix, from 0. */
  readonly root: number;
  /** The dotted name. */
  readonly name: string;
  /** The segments from the prefix to the module. Empty for the prefix itself. */
  readonly path: readonly string[];
  /**
   * The source file's URL, resolved with the manifest's `import.meta.url`. If the file exists, its hash is compared.
   */
  readonly source?: string | undefined;
  /** SHA-256 of the source in hexadecimal. */
  readonly hash?: string;
  /** The module itself. Absent for a folder without an index. */
  readonly exports?: Namespace;
  /** Class name (`Foo.Bar`) -> verb -> signature. Other classes are not routed. */
  readonly classes: { readonly [name: string]: { readonly [verb: string]: MethodSignature } };
}

export function hashOf(text: string | Uint8Array): string {
  // Loaded on demand: it takes 5 ms.
  return process.getBuiltinModule("node:crypto").hash("sha256", text, "hex");
}

/** The modules of a manifest as a tree, with their signatures. Fails if the manifest is out of date. */
export function manifestEntries(
  manifest: Manifest,
  notes: string[],
): { roots: ModuleEntry[]; signatureOf: SignatureOf } {
  if (manifest.version !== 2 || !Array.isArray(manifest.modules))
    throw new StartError("INVALID_OPTION", "the manifest comes from another version of waymark build");
  const signatures = new Map<FoundClass, ManifestModule["classes"][string]>();
  type Building = { name: string; segment: string; classes: FoundClass[]; children: Building[] };
  const byPath = new Map<string, Building>();
  const roots: Building[] = [];
  for (const file of manifest.files ?? []) refuseStale({ ...file, name: "types" });
  for (const one of manifest.packages ?? []) refuseOtherVersion(one);
  for (const module of manifest.modules) {
    refuseStale(module);
    const segment = module.path.at(-1) ?? "";
    const building: Building = { name: module.name, segment, classes: [], children: [] };
    building.classes = classesFrom(module, notes, signatures);
    byPath.set([module.root, ...module.path].join("/"), building);
    if (module.path.length === 0) roots.push(building);
    else byPath.get([module.root, ...module.path.slice(0, -1)].join("/"))!.children.push(building);
  }
  return {
    roots,
    signatureOf: (found, verb) => {
      const signature = signatures.get(found)?.[verb];
      if (signature === undefined)
        throw stale(`class ${found.name} has a method ${verb} that is not in the manifest`);
      return signature;
    },
  };
}

function classesFrom(
  module: ManifestModule,
  notes: string[],
  signatures: Map<FoundClass, ManifestModule["classes"][string]>,
): FoundClass[] {
  if (module.exports === undefined) return [];
  const listed = new Set(Object.keys(module.classes));
  const remember = (found: FoundClass) => {
    const verbs = module.classes[found.name];
    if (verbs === undefined)
      throw stale(`${module.name} has a class ${found.name} that is not in the manifest`);
    for (const [verb, { parameters }] of Object.entries(verbs)) {
      const method = found.verbs.get(verb);
      if (method === undefined)
        throw stale(`${module.name}: class ${found.name} no longer has the method ${verb}`);
      // A smaller `length` is normal: a default value, or a wrapper function, hides parameters.
      if (method.length > parameters.length)
        throw stale(`${module.name}: ${found.name}.${verb} has a parameter that is not in the manifest`);
    }
    listed.delete(found.name);
    signatures.set(found, verbs);
    for (const member of found.members) remember(member);
  };
  // The manifest does not list abstract classes.
  const isAbstract = (_: unknown, __: unknown, name: string) => !Object.hasOwn(module.classes, name);
  const found = classesOf(module.exports, {
    file: undefined,
    module: module.name,
    isAbstract,
    notes,
    misfits: [],
  });
  for (const each of found) remember(each);
  for (const name of listed) throw stale(`${module.name} no longer has the class ${name}`);
  return found;
}

function refuseOtherVersion({ name, version, source }: ManifestPackage): void {
  if (!source?.startsWith("file:")) return;
  const path = fileURLToPath(source);
  // Production needs neither the compiler nor packages that contain only types.
  if (!existsSync(path)) return;
  const installed = (JSON.parse(readFileSync(path, "utf8")) as { version?: string }).version ?? "";
  if (installed !== version)
    throw stale(`it was built with ${name} ${version}, and ${installed || "another version"} is installed`);
}

function refuseStale({ name, source, hash }: Pick<ManifestModule, "name" | "source" | "hash">): void {
  if (source === undefined || hash === undefined || !source.startsWith("file:")) return;
  const path = fileURLToPath(source);
  // A bundle or an image may contain no sources to compare with.
  if (!existsSync(path)) return;
  if (hashOf(readFileSync(path)) !== hash) throw stale(`${path} (${name}) has changed since`);
}

function stale(what: string): StartError {
  return new StartError("INVALID_OPTION", `the manifest is stale: ${what}: run "waymark build" again`);
}

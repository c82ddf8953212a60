import type { MethodSignature } from "../signature/model/signature.ts";
import type { ModuleEntry, SignatureOf } from "./build-routes.ts";
import { classesOf, type FoundClass } from "./classes.ts";
import type { Namespace } from "./load.ts";
import { StartError } from "./start-error.ts";

/** The output of `waymark build`: an application starts from it without sources and parser. */
export interface Manifest {
  /** The version of the format. */
  readonly version: 2;
  /**
   * The manifest's own URL, for `source`. Undefined where the sources are elsewhere, as after compilation or bundling:
   * then nothing is compared.
   */
  readonly base?: string | undefined;
  /** The modules under the prefixes, with their classes and signatures. */
  readonly modules: readonly ManifestModule[];
  /** The other files that a type comes from. */
  readonly files?: readonly ManifestFile[];
  /** The packages that a type comes from, and the compiler. */
  readonly packages?: readonly ManifestPackage[];
}

/** A file that a type comes from. */
export interface ManifestFile {
  /** The source file, as in {@link ManifestModule.source}. */
  readonly source?: string;
  /** SHA-256 of the file in hexadecimal. */
  readonly hash: string;
}

/** A package that a type comes from. */
export interface ManifestPackage {
  /** The name of the package. */
  readonly name: string;
  /** The version that the build read. */
  readonly version: string;
  /** Its package.json, like {@link ManifestModule.source}. */
  readonly source?: string;
}

/** A module under a prefix. */
export interface ManifestModule {
  /** The index of its prefix, from 0. */
  readonly root: number;
  /** The dotted name. */
  readonly name: string;
  /** The segments from the prefix to the module. Empty for the prefix itself. */
  readonly path: readonly string[];
  /** The source file, relative to {@link Manifest.base}. If the file exists, Node compares its hash. */
  readonly source?: string;
  /** SHA-256 of the source in hexadecimal. */
  readonly hash?: string;
  /** The module itself. Absent for a folder without an index. */
  readonly exports?: Namespace;
  /** Class name (`Foo.Bar`) -> verb -> signature. Other classes are not routed. */
  readonly classes: { readonly [name: string]: { readonly [verb: string]: MethodSignature } };
}

/** The modules of a manifest as a tree, with their signatures. Fails if the modules differ from the manifest. */
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
  for (const module of manifest.modules) {
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

/** The error for a manifest that does not fit its modules, sources or packages. */
export function stale(what: string): StartError {
  return new StartError("INVALID_OPTION", `the manifest is stale: ${what}: run "waymark build" again`);
}

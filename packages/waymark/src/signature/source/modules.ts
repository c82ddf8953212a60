import { readFileSync } from "node:fs";
import { SignatureError, WAYS_OUT } from "../model/signature-error.ts";
import { Augmentations } from "./augmentations.ts";
import { ParsedModule } from "./module.ts";
import { resolveModule } from "./resolve-module.ts";
import type { ImportedName, Scope, SourceModule, TypeDeclaration, ValueDeclaration } from "./scope.ts";
import { SourceText } from "./text.ts";

/** The target of a name: a declaration, or a whole module (`import * as models`). */
export type Found<Declaration> =
  | { readonly kind: "declaration"; readonly declaration: Exclude<Declaration, ImportedName> }
  | { readonly kind: "module"; readonly module: SourceModule };

/** The modules that one start reads. Parses each module once and resolves names across modules. */
export class SourceModules {
  /** The interfaces to which other modules add members. */
  readonly augmentations = new Augmentations(this);
  readonly #modules = new Map<string, SourceModule>();

  /** The files that were read. */
  files(): string[] {
    return [...this.#modules.keys()];
  }

  read(file: string): SourceModule {
    let module = this.#modules.get(file);
    if (!module) {
      module = new ParsedModule(new SourceText(file, readFileSync(file, "utf8")));
      this.#modules.set(file, module);
    }
    return module;
  }

  /** The type behind a name, which may be dotted for namespaces. Undefined for an undeclared name. */
  findType(path: readonly string[], scope: Scope): Found<TypeDeclaration> | undefined {
    return this.#find(path, scope, (within, name) => within.findType(name));
  }

  findValue(path: readonly string[], scope: Scope): Found<ValueDeclaration> | undefined {
    return this.#find(path, scope, (within, name) => within.findValue(name));
  }

  /** The declaration for a path of names in the module of an import type (`import("./book.ts").Book`). */
  findImportedType(
    specifier: string,
    path: readonly string[],
    scope: Scope,
    start: number,
  ): Found<TypeDeclaration> | undefined {
    const [name = "*", ...rest] = path;
    const lookup: Lookup<TypeDeclaration> = (within, own) => within.findType(own);
    const found = this.#follow({ kind: "import", specifier, name, start }, scope.module, lookup);
    return this.#descend(found, rest, lookup);
  }

  /** Whether an exported name is only a type. */
  exportsOnlyType(module: SourceModule, name: string): boolean {
    const type = this.#findExported<TypeDeclaration>(module, name, (scope, own) => scope.findType(own));
    if (type?.kind !== "declaration") return false;
    const isType = type.declaration.kind === "interface" || type.declaration.kind === "alias";
    return (
      isType && !this.#findExported<ValueDeclaration>(module, name, (scope, own) => scope.findValue(own))
    );
  }

  /** Whether a name that the module declares is only a type. */
  declaresOnlyType(
    module: SourceModule,
    name: string,
    importsOnlyType: (specifier: string, name: string) => boolean,
  ): boolean {
    const value = module.scope.values.get(name);
    if (value) return value.kind === "import" && importsOnlyType(value.specifier, value.name);
    return module.scope.types.has(name);
  }

  #find<Declaration extends { readonly kind: string }>(
    [first, ...rest]: readonly string[],
    scope: Scope,
    lookup: Lookup<Declaration>,
  ): Found<Declaration> | undefined {
    const declaration = lookup(scope, first!);
    return declaration && this.#descend(this.#settle(declaration, scope.module, lookup), rest, lookup);
  }

  #descend<Declaration extends { readonly kind: string }>(
    found: Found<Declaration> | undefined,
    rest: readonly string[],
    lookup: Lookup<Declaration>,
  ): Found<Declaration> | undefined {
    const [name, ...further] = rest;
    if (name === undefined) return found;
    if (found?.kind !== "module") return undefined;
    return this.#descend(this.#findExported(found.module, name, lookup), further, lookup);
  }

  #settle<Declaration extends { readonly kind: string }>(
    declaration: Declaration | ImportedName,
    module: SourceModule,
    lookup: Lookup<Declaration>,
    visited: Set<string> = new Set(),
  ): Found<Declaration> | undefined {
    if (isImport(declaration)) return this.#follow(declaration, module, lookup, visited);
    return { kind: "declaration", declaration: declaration as Exclude<Declaration, ImportedName> };
  }

  #follow<Declaration extends { readonly kind: string }>(
    imported: ImportedName,
    importer: SourceModule,
    lookup: Lookup<Declaration>,
    visited: Set<string> = new Set(),
  ): Found<Declaration> | undefined {
    const file = resolveModule(imported.specifier, importer.source.file);
    if (file === undefined) {
      throw new SignatureError(
        "UNREADABLE_TYPE",
        `cannot find the source of "${imported.specifier}", from which a type is imported. ${WAYS_OUT}`,
        importer.source.location(imported.start),
      );
    }
    const module = this.read(file);
    if (imported.name === "*") return { kind: "module", module };
    return this.#findExported(module, imported.name, lookup, visited);
  }

  #findExported<Declaration extends { readonly kind: string }>(
    module: SourceModule,
    name: string,
    lookup: Lookup<Declaration>,
    visited: Set<string> = new Set(),
  ): Found<Declaration> | undefined {
    const visit = `${module.source.file} ${name}`;
    if (visited.has(visit)) return undefined;
    visited.add(visit);
    const exported = module.exports.get(name);
    if (exported?.kind === "import") return this.#follow(exported, module, lookup, visited);
    if (exported) {
      const declaration = lookup(module.scope, exported.name);
      return declaration && this.#settle(declaration, module, lookup, visited);
    }
    if (name === "default") return undefined;
    for (const specifier of module.exportStars) {
      const file = resolveModule(specifier, module.source.file);
      const found = file && this.#findExported(this.read(file), name, lookup, visited);
      if (found) return found;
    }
    return undefined;
  }
}

type Lookup<Declaration> = (scope: Scope, name: string) => Declaration | ImportedName | undefined;

function isImport(declaration: { readonly kind: string }): declaration is ImportedName {
  return declaration.kind === "import";
}

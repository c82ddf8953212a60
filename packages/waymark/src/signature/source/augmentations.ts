import { readFileSync } from "node:fs";
import type { Node } from "oxc-parser";
import { visitorKeys } from "oxc-parser";
import { resolveModule } from "./resolve-module.ts";
import type { SourceModule } from "./scope.ts";

/** Parses modules, each once. */
interface ModuleParser {
  read(file: string): SourceModule;
}

const HINT = /\bdeclare\s+(?:module|global)\b/;
const IMPORT = /(?:\bfrom|\bimport)\s*\(?\s*["']([.#][^"'\n]*)["']/g;

/**
 * The names of interfaces to which a module adds members (`declare module "./book.ts" { interface Book {} }`). Follows
 * the relative and `#` imports of the controllers, also those that Node erases. Reads texts, and parses only the few
 * files with an augmentation.
 */
export class Augmentations {
  readonly #modules: ModuleParser;
  readonly #visited = new Set<string>();
  readonly #names = new Set<string>();

  constructor(modules: ModuleParser) {
    this.#modules = modules;
  }

  /** Adds the augmentations that a file and its imports contain. */
  follow(file: string): void {
    const open = [file];
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      if (this.#visited.has(next)) continue;
      this.#visited.add(next);
      const text = textOf(next);
      if (HINT.test(text)) this.#collect(next);
      for (const [, specifier] of text.matchAll(IMPORT)) {
        const target = resolveModule(specifier!, next);
        if (target && /\.[cm]?[jt]s$/.test(target)) open.push(target);
      }
    }
  }

  has(name: string): boolean {
    return this.#names.has(name);
  }

  #collect(file: string): void {
    for (const statement of this.#modules.read(file).program.body) {
      if (statement.type !== "TSModuleDeclaration") continue;
      if (statement.kind === "global" || statement.id.type === "Literal") this.#collectNames(statement);
    }
  }

  #collectNames(declaration: Node): void {
    const visit = (node: Node): void => {
      if (node.type === "TSInterfaceDeclaration") this.#names.add(node.id.name);
      for (const key of visitorKeys[node.type] ?? []) {
        const child = (node as unknown as Record<string, Node | null | (Node | null)[]>)[key];
        for (const one of Array.isArray(child) ? child : [child]) if (one) visit(one);
      }
    };
    visit(declaration);
  }
}

/** A file of a test need not exist. */
function textOf(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}

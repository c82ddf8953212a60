import { fileURLToPath } from "node:url";
import type { FunctionPosition } from "./functions.ts";
import type { SourceModules } from "./modules.ts";
import type { ClassSource } from "./scope.ts";
import { checkVerbMembers } from "./verb-members.ts";

export type ControllerClass = abstract new (...args: never[]) => unknown;

/** The classes and all their base classes, each once. */
export function withBases(classes: readonly ControllerClass[]): object[] {
  return [...new Set(classes.flatMap(chainOf))];
}

/** A class and its base classes, as V8 linked them. */
function chainOf(controller: ControllerClass): object[] {
  const chain: object[] = [];
  for (
    let own: object | null = controller;
    own && own !== Function.prototype;
    own = Object.getPrototypeOf(own) as object | null
  ) {
    chain.push(own);
  }
  return chain;
}

/** The source of loaded classes, by the positions that V8 reports. */
export class ClassSources {
  readonly #positions: ReadonlyMap<object, FunctionPosition | undefined>;
  readonly #modules: SourceModules;

  constructor(positions: ReadonlyMap<object, FunctionPosition | undefined>, modules: SourceModules) {
    this.#positions = positions;
    this.#modules = modules;
  }

  /** The sources of a class and its base classes. Undefined for those without a source file. */
  chain(controller: ControllerClass): (ClassSource | undefined)[] {
    return chainOf(controller).map((own) => this.#source(own));
  }

  /** @throws SignatureError for a verb that is not a method */
  check(own: object): void {
    const source = this.#source(own);
    if (source) checkVerbMembers(source);
  }

  /** The files of the classes outside of packages. */
  files(): string[] {
    const files = [...this.#positions.values()].flatMap((position) =>
      position?.url.startsWith("file:") ? [fileURLToPath(position.url)] : [],
    );
    return [...new Set(files)].filter((file) => !/[\\/]node_modules[\\/]/.test(file));
  }

  #source(own: object): ClassSource | undefined {
    const position = this.#positions.get(own);
    if (!position?.url.startsWith("file:")) return undefined;
    const module = this.#modules.read(fileURLToPath(position.url));
    return module.classes.get(module.source.offset(position.line, position.column));
  }
}

import { fileURLToPath } from "node:url";
import type { ControllerClass } from "./class-sources.ts";
import { locateFunctions } from "./functions.ts";
import { SourceModules } from "./modules.ts";

/** The abstract classes of some files. The position distinguishes two classes of one name. */
export class AbstractClasses {
  readonly #modules = new SourceModules();
  readonly #files: ReadonlySet<string>;
  readonly #names = new Set<string>();

  constructor(files: readonly string[]) {
    this.#files = new Set(files);
    for (const file of files) {
      for (const { node } of this.#modules.read(file).classes.values()) {
        if (node.abstract && node.id) this.#names.add(node.id.name);
      }
    }
  }

  has(controller: ControllerClass): boolean {
    // V8 takes 20 ms to locate a class.
    if (!this.#names.has(controller.name)) return false;
    const [position] = locateFunctions([controller]);
    if (!position?.url.startsWith("file:")) return false;
    const file = fileURLToPath(position.url);
    if (!this.#files.has(file)) return false;
    const module = this.#modules.read(file);
    const found = module.classes.get(module.source.offset(position.line, position.column));
    return found?.node.abstract === true;
  }
}

import { readFileSync } from "node:fs";
import type { ControllerClass } from "../controller/controller.ts";
import { loadParser } from "./lazy.ts";

/** The names of abstract classes, with their files. Read from the source, because `abstract` is erased at run time. */
export type AbstractNames = ReadonlySet<string>;

const HINT = /\babstract\s+class\b/;

/** The names of the abstract classes in the given files. Loads the parser only if a file contains the word. */
export async function abstractNames(files: Iterable<string>): Promise<AbstractNames> {
  const names = new Set<string>();
  for (const file of files) {
    const text = readFileSync(file, "utf8");
    if (!HINT.test(text)) continue;
    const { parseSync, Visitor } = await loadParser();
    const { program } = parseSync(file, text);
    const note = (node: { abstract?: boolean | undefined; id: { name: string } | null }) => {
      if (node.abstract === true && node.id !== null) names.add(node.id.name);
    };
    new Visitor({ ClassDeclaration: note, ClassExpression: note }).visit(program);
  }
  return names;
}

export function isAbstractIn(names: AbstractNames): (controller: ControllerClass) => boolean {
  return (controller) => names.has(controller.name);
}

import { readFileSync } from "node:fs";
import type { ControllerClass } from "../controller/controller.ts";
import { loadAbstractClasses } from "./lazy.ts";

const HINT = /\babstract\s+class\b/;

/**
 * Whether a loaded class is abstract. Reads the source, because `abstract` is erased at run time. Loads the parser only
 * if a file contains the word.
 */
export async function abstractCheck(
  files: Iterable<string>,
): Promise<(controller: ControllerClass) => boolean> {
  const hinted = [...files].filter((file) => HINT.test(textOf(file)));
  if (hinted.length === 0) return () => false;
  const { AbstractClasses } = await loadAbstractClasses();
  const classes = new AbstractClasses(hinted);
  return (controller) => classes.has(controller);
}

/** Empty for a file that was deleted after its import. */
function textOf(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return "";
    throw error;
  }
}

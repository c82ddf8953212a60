import { readFileSync } from "node:fs";
import type { FoundModule } from "./discover.ts";
import { withoutGenerations } from "./generations.ts";
import { loadExplainer } from "./lazy.ts";
import { own, ownedFiles } from "./module-hooks.ts";
import { StartError } from "./start-error.ts";

export type Namespace = Readonly<Record<string, unknown>>;

/** Imports every module of a tree, in order. Fails at the first broken module with its file and line. */
export async function loadModules(root: FoundModule): Promise<Map<FoundModule, Namespace>> {
  const loaded = new Map<FoundModule, Namespace>();
  await loadInto(root, loaded);
  return loaded;
}

async function loadInto(found: FoundModule, loaded: Map<FoundModule, Namespace>): Promise<void> {
  if (found.file !== undefined) loaded.set(found, await loadFile(found.file));
  for (const child of found.children.values()) await loadInto(child, loaded);
}

export async function loadFile(file: string): Promise<Namespace> {
  try {
    return (await import(own(file))) as Namespace;
  } catch (error) {
    throw new StartError("BROKEN_MODULE", await describe(file, error), { cause: error });
  }
}

const LOCATION = /(?:file:\/\/)?(\/[^\s():]+):(\d+)(?::(\d+))?/g;

/** The place where a module is broken: from the parser if Node reports no line, else from the error's stack. */
async function describe(file: string, error: unknown): Promise<string> {
  const message = withoutGenerations(error instanceof Error ? error.message : String(error));
  const code = (error as { code?: string } | null)?.code ?? "";
  if (
    error instanceof SyntaxError ||
    code.startsWith("ERR_INVALID_TYPESCRIPT") ||
    code.includes("TYPESCRIPT_SYNTAX")
  ) {
    const { explainModuleError } = await loadExplainer();
    for (const path of new Set([file, ...ownedFiles()])) {
      const [fault] = explainModuleError(path, readFileSync(path, "utf8"));
      if (fault !== undefined) {
        const { line, column } = fault.location;
        return `${path}:${line}:${column}: ${fault.message}`;
      }
    }
  }
  const places = [...withoutGenerations((error as Error | null)?.stack ?? "").matchAll(LOCATION)];
  // The first stack line in the program's own files. Frames of Node and of packages do not help.
  const own = new Set(ownedFiles());
  const place = places.find(([, path]) => own.has(decodeURI(path!)))?.[0].replace("file://", "") ?? file;
  const [first = "the module threw a value without a message"] = message
    .split("\n")
    .filter((line) => line.trim());
  return `${place}: ${first}${place.startsWith(file) ? "" : ` (loaded for ${file})`}`;
}

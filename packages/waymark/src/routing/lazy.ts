import { StartError } from "./start-error.ts";

/**
 * Loads the source reader on demand, through names that a bundler cannot follow. A bundle starts from a manifest and
 * must contain neither the reader nor the parser's native code.
 */
export function loadReader(): Promise<typeof import("../signature/reader.ts")> {
  return hidden("../signature/reader");
}

export function loadExplainer(): Promise<typeof import("../signature/source/explain.ts")> {
  return hidden("../signature/source/explain");
}

export function loadAbstractClasses(): Promise<typeof import("../signature/source/abstract-classes.ts")> {
  return hidden("../signature/source/abstract-classes");
}

function hidden<T>(stem: string): Promise<T> {
  const extension = import.meta.url.endsWith(".ts") ? ".ts" : ".js";
  return imported(new URL(stem + extension, import.meta.url).href);
}

async function imported<T>(specifier: string): Promise<T> {
  try {
    return (await import(specifier)) as T;
  } catch (error) {
    if ((error as { code?: string }).code !== "ERR_MODULE_NOT_FOUND") throw error;
    throw new StartError(
      "START_FAILED",
      'signatures cannot be read here, because the reader is not part of this build: start from a manifest ("waymark build")',
      { cause: error },
    );
  }
}

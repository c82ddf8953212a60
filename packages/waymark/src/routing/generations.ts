/**
 * Controllers that change in development. Node imports a module of one address only once, so each reload imports the
 * files of the controllers under a new address, with the number of the reload. Their imports from elsewhere keep their
 * address: a database connection in such a module stays open.
 */
import { fileURLToPath } from "node:url";

/** The test for files of controllers. Undefined without a watcher. */
let includes: ((file: string) => boolean) | undefined;
let generation = 0;
/** The files of controllers that other modules import. A second copy would not be the one that those modules have. */
const pinned = new Set<string>();

/** Allows reloads of the files for which `test` is true. */
export function allowReloads(test: (file: string) => boolean): void {
  includes = test;
}

/** From now on, controllers have addresses of their own. Modules that cannot be freed remain: the caller counts. */
export function nextGeneration(): number {
  return ++generation;
}

/** Whether a reload imports this file anew. */
export function isReloadableFile(file: string): boolean {
  return includes?.(file) === true && !pinned.has(file) && !file.endsWith(".cjs");
}

export function isReloadable(url: string): boolean {
  return includes !== undefined && url.startsWith("file:") && isReloadableFile(fileURLToPath(url));
}

/** Notes that a module which stays imports this one, so that it must stay too. */
export function pin(url: string): void {
  if (url.startsWith("file:")) pinned.add(fileURLToPath(url));
}

/** The address of a module in a reload. The same address for a module that stays, and before the first reload. */
export function versioned(url: string, at = generation): string {
  return at === 0 || !isReloadable(url) ? url : `${url.split("?")[0]}?waymark=${at}`;
}

/** The reload that imported a module. 0: none. */
export function generationOf(url: string): number {
  return Number(/\?waymark=(\d+)$/.exec(url)?.[1] ?? 0);
}

/** A text without the numbers of reloads, such as a stack. */
export function withoutGenerations(text: string): string {
  return text.replaceAll(/\?waymark=\d+/g, "");
}

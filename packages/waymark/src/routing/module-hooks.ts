import { fileURLToPath, pathToFileURL } from "node:url";
import { generationOf, isReloadable, pin, versioned } from "./generations.ts";

/**
 * Node treats a `.ts` file as CommonJS if the nearest package.json does not set "type": "module". `npm init -y`
 * leaves it out. This hook loads controllers and their relative imports as ES modules.
 */
const owned = new Set<string>();
let registered = false;

/** Every module file that was loaded at startup, to locate an error. */
export function ownedFiles(): string[] {
  return [...new Set([...owned].map((url) => fileURLToPath(url)))];
}

/** The URL to import a file as an ES module. */
export function own(file: string): string {
  register();
  const url = versioned(pathToFileURL(file).href);
  owned.add(url);
  return url;
}

function register(): void {
  if (registered) return;
  registered = true;
  // Named at run time, because other runtimes that have `node:module` lack the function.
  process.getBuiltinModule("node:module").registerHooks({
    resolve(specifier, context, nextResolve) {
      const resolved = nextResolve(specifier, context);
      const { parentURL } = context;
      let { url } = resolved;
      if (!owned.has(url)) {
        const relative = specifier.startsWith(".") || specifier.startsWith("#") || specifier.startsWith("/");
        if (!relative || parentURL === undefined || !owned.has(parentURL)) return resolved;
        if (!url.startsWith("file:") || url.includes("/node_modules/")) return resolved;
      }
      if (parentURL !== undefined && owned.has(parentURL)) {
        if (isReloadable(parentURL)) url = versioned(url, generationOf(parentURL));
        else pin(url);
      }
      owned.add(url);
      return isTypeScript(url) ? { ...resolved, url, format: "module-typescript" } : { ...resolved, url };
    },
  });
}

function isTypeScript(url: string): boolean {
  const query = url.indexOf("?");
  return (query === -1 ? url : url.slice(0, query)).endsWith(".ts");
}

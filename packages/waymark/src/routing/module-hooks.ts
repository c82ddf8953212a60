import { fileURLToPath, pathToFileURL } from "node:url";

/**
 * Node treats a `.ts` file as CommonJS if the nearest package.json does not set "type": "module". `npm init -y`
 * leaves it out. This hook loads controllers and their relative imports as ES modules.
 */
const owned = new Set<string>();
let registered = false;

/** Every module file that was loaded at startup, to locate an error. */
export function ownedFiles(): string[] {
  return [...owned].map((url) => fileURLToPath(url));
}

/** The URL to import a file as an ES module. */
export function own(file: string): string {
  register();
  const url = pathToFileURL(file).href;
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
      const known = owned.has(resolved.url);
      if (!known) {
        const relative = specifier.startsWith(".") || specifier.startsWith("#") || specifier.startsWith("/");
        if (!relative || parentURL === undefined || !owned.has(parentURL)) return resolved;
        if (!resolved.url.startsWith("file:") || resolved.url.includes("/node_modules/")) return resolved;
        owned.add(resolved.url);
      }
      return resolved.url.endsWith(".ts") ? { ...resolved, format: "module-typescript" } : resolved;
    },
  });
}

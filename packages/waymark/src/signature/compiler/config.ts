import { resolve } from "node:path";

/** The part of a tsconfig.json that affects what a type means. */
export interface UserConfig {
  readonly options: Readonly<Record<string, unknown>>;
  readonly fileNames: readonly string[];
}

/** Options that come from the user's tsconfig.json as they are. All others are fixed, so that types mean the same. */
const TAKEN = ["types", "typeRoots"] as const;

const FIXED = {
  strict: true,
  exactOptionalPropertyTypes: true,
  target: "esnext",
  module: "preserve",
  moduleResolution: "bundler",
  // The conditions under which Node loads packages.
  customConditions: ["node", "module-sync"],
  allowImportingTsExtensions: true,
  allowJs: true,
  checkJs: true,
  resolveJsonModule: true,
  skipLibCheck: true,
  noEmit: true,
};

/** The text of the tsconfig.json that Waymark opens: the user's files and name resolution, with fixed strictness. */
export function configText(user: UserConfig | undefined, roots: readonly string[]): string {
  // Without a tsconfig.json, every package of `@types` declares its globals.
  const options: Record<string, unknown> = { ...FIXED, ...(!user && { types: ["*"] }) };
  for (const name of TAKEN) {
    const value = user?.options[name];
    if (value !== undefined) options[name] = value;
  }
  const { lib } = user?.options ?? {};
  if (Array.isArray(lib)) options.lib = lib.map(libraryName);
  const paths = pathsOf(user);
  if (paths) options.paths = paths;
  return JSON.stringify({
    compilerOptions: options,
    files: [...new Set([...(user?.fileNames ?? []), ...roots])],
  });
}

/** `lib.es2024.d.ts`, as the compiler reports it, is written `es2024`. */
function libraryName(file: unknown): string {
  return String(file).replace(/^lib\.(.*)\.d\.ts$/, "$1");
}

/**
 * The user's `paths` as absolute paths, because an extended tsconfig.json may be in another folder. TypeScript 7 has no
 * `baseUrl`: it becomes the path of all names.
 */
function pathsOf(user: UserConfig | undefined): Record<string, string[]> | undefined {
  const { paths, baseUrl, pathsBasePath } = user?.options ?? {};
  if (paths === undefined && baseUrl === undefined) return undefined;
  const base = String(baseUrl ?? pathsBasePath ?? ".");
  const absolute = Object.entries((paths ?? {}) as Record<string, readonly string[]>).map(
    ([name, targets]) => [name, targets.map((target) => resolve(base, target))] as const,
  );
  return { ...(baseUrl !== undefined && { "*": [resolve(base, "*")] }), ...Object.fromEntries(absolute) };
}

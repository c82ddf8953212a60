/** The part of a tsconfig.json that affects what a type means. */
export interface UserConfig {
  readonly options: Readonly<Record<string, unknown>>;
  readonly fileNames: readonly string[];
}

/** The options that come from the user's tsconfig.json. All others are fixed, so that types mean the same everywhere. */
const TAKEN = ["paths", "pathsBasePath", "baseUrl", "types", "typeRoots"] as const;

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
  const options: Record<string, unknown> = { ...FIXED };
  for (const name of TAKEN) {
    const value = user?.options[name];
    if (value !== undefined) options[name] = value;
  }
  const { lib } = user?.options ?? {};
  if (Array.isArray(lib)) options.lib = lib.map(libraryName);
  delete options.pathsBasePath;
  return JSON.stringify({
    compilerOptions: options,
    files: [...new Set([...(user?.fileNames ?? []), ...roots])],
  });
}

/** `lib.es2024.d.ts`, as the compiler reports it, is written `es2024`. */
function libraryName(file: unknown): string {
  return String(file).replace(/^lib\.(.*)\.d\.ts$/, "$1");
}

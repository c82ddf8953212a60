import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join, relative } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { repository } from "./content.ts";

const packages = join(repository, "packages");

/** An entry point that programs import. */
export interface Entry {
  /** `@tollway/tollgate/limits` */
  readonly name: string;
  /** The module, as an absolute path. */
  readonly module: string;
  /** The page of its reference, below `docs/`: `reference/tollgate-limits.md`. */
  readonly page: string;
}

interface Manifest {
  readonly name: string;
  readonly exports: Readonly<Record<string, unknown>>;
}

/** The entry points of a package that are modules. */
export function entriesOf(packageName: string): Entry[] {
  const folder = join(packages, packageName);
  const { name, exports } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Manifest;
  return Object.entries(exports).flatMap(([path, target]) => {
    const file = moduleOf(target);
    if (file === undefined) return [];
    const page = `reference/${[packageName, ...path.split("/").slice(1)].join("-")}.md`;
    return [{ name: join(name, path), module: join(folder, file), page }];
  });
}

/** The TypeScript module of a target, which is a path or an object of conditions. */
function moduleOf(target: unknown): string | undefined {
  if (typeof target === "string") return target.endsWith(".ts") ? target : undefined;
  return moduleOf((target as { readonly default?: unknown } | null)?.default);
}

/** One table instead of a heading for each member. */
const TABLES = ["interfaceProperties", "parameters", "typeAliasProperties", "typeDeclaration", "enumMembers"];

/** The kinds of declarations that must have a docstring. */
const DOCUMENTED = [
  ...["Class", "Interface", "TypeAlias", "Function", "Variable"],
  ...["Property", "Method", "Accessor", "CallSignature", "GetSignature"],
];

/**
 * Types that the reference names and does not describe: how other types are computed, formats of other specifications, what
 * only Waymark and Tollgate create, and the settings, which have a page of their own.
 */
const NOT_EXPORTED = [
  ...["ReturnedProblem", "Bytes", "StreamItem", "AnyMethod", "ClassesOf", "FallbackOf", "Words", "Succeeded"],
  ...["Declared", "FailureStatus", "WireItem", "Unsent", "Returned", "Arguments", "Reserved", "Writable"],
  ...["Asgi\\w+", "Wsgi\\w+", "StartResponse", "EventV1", "EventV2"],
  ...[
    "MethodSignature",
    "Platform",
    "Routes",
    "Namespace",
    "IndexedRuleSet",
    "MetricKey",
    "Window",
    "Calendar",
    "AlgorithmName",
  ],
  ...[
    "Values",
    "ValuesOf",
    "Setting",
    "\\w+Settings",
    "\\w+Tls",
    "Secret",
    "Pairs",
    "diagnosticCodes",
    "logLevels",
  ],
];

/**
 * Writes the reference of entry points, from their docstrings. TypeDoc reads the sources with a TypeScript of its own.
 * @param content the folder of the site's pages
 * @throws {Error} for an exported name without a docstring, and a type that is named and not exported
 */
export function writeReference(entries: readonly Entry[], content: string): void {
  const out = mkdtempSync(join(tmpdir(), "tollway-reference-"));
  try {
    // TypeDoc misses types that are not exported if it reads several packages at once.
    const byPackage = Map.groupBy(entries, ({ module }) => relative(packages, module).split("/")[0]!);
    const faults = [...byPackage].flatMap(([name, own]) => runTypedoc(own, join(out, name)));
    if (faults.length > 0) throw new Error(`the docstrings have faults:\n${faults.join("\n")}`);
    for (const [name, own] of byPackage) writePages(own, join(out, name), content);
  } finally {
    rmSync(out, { recursive: true, force: true });
  }
}

function writePages(entries: readonly Entry[], out: string, content: string): void {
  const pages = new Map(entries.map((entry) => [outputOf(entry, entries), entry]));
  for (const [output, { name, page }] of pages) {
    const text = tidied(readFileSync(join(out, output), "utf8"))
      .replace(/^# .*$/m, `# ${name}`)
      .replaceAll(/\]\(([^)#:]+\.md)/g, (_, link: string) => {
        const target = pages.get(join(dirname(output), link));
        if (target === undefined) throw new Error(`the reference of ${name} has a link to ${link}`);
        return `](./${basename(target.page)}`;
      });
    mkdirSync(dirname(join(content, page)), { recursive: true });
    writeFileSync(join(content, page), text);
  }
}

/** A page without sections that repeat what a signature beside them says. */
export function tidied(page: string): string {
  return page
    .replaceAll(
      /^#+ (?:Inherited from|Overrides|Implementation of|Extends|Extended by)\n\n(?:.+\n)+\n?/gm,
      "",
    )
    .replaceAll(/^#+ Returns\n\n.+\n+(?=#|<a|\*\*\*|$(?![\s\S]))/gm, "");
}

/**
 * TypeDoc's page for an entry point: `tollgate/src.md` for `packages/tollgate/src/index.ts`. A package with one entry
 * point has the page `README.md`.
 */
function outputOf({ module }: Entry, entries: readonly Entry[]): string {
  if (entries.length === 1) return "README.md";
  return relative(packages, module).replace(/(?:\/index)?\.ts$/, ".md");
}

/** Runs TypeDoc for the entry points of one package. Returns a line for each fault of a docstring. */
function runTypedoc(entries: readonly Entry[], out: string): string[] {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [
      join(import.meta.dirname, "node_modules", "typedoc", "bin", "typedoc"),
      ...["--plugin", "typedoc-plugin-markdown", "--logLevel", "Warn"],
      ...["--tsconfig", join(repository, "tsconfig.json"), "--skipErrorChecking", "--basePath", packages],
      ...["--router", "module", "--out", out, "--readme", "none", "--disableSources"],
      ...["--excludePrivate", "--excludeInternal", "--excludeExternals"],
      ...["--validation.notDocumented", "--validation.notExported", "--validation.invalidLink"],
      ...DOCUMENTED.flatMap((kind) => ["--requiredToBeDocumented", kind]),
      ...["Functions", "Classes", "*"].flatMap((group) => ["--groupOrder", group]),
      ...["--tableColumnSettings.hideModifiers", "--tableColumnSettings.hideDefaults"],
      ...["--hideBreadcrumbs", "--hidePageHeader", "--useHTMLAnchors"],
      ...TABLES.flatMap((members) => [`--${members}Format`, "table"]),
      ...entries.map(({ module }) => module),
    ],
    { encoding: "utf8", cwd: import.meta.dirname },
  );
  if (status !== 0) throw new Error(`TypeDoc failed: ${stdout}${stderr}`);
  return faultsOf(stripVTControlCharacters(stdout + stderr));
}

/** TypeDoc's warnings. Members of a type without a name are described with the type that has them. */
export function faultsOf(printed: string): string[] {
  const hidden = new RegExp(`^(?:${NOT_EXPORTED.join("|")}), defined in .* but not included`);
  return printed
    .split("\n")
    .flatMap((line) => /^\[warning\] (.*)/.exec(line)?.[1] ?? [])
    .filter((text) => !/^Found \d+ errors/.test(text))
    .filter((text) => !hidden.test(text) && !/\.__type\b.* does not have any/.test(text));
}

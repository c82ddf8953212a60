import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join, relative } from "node:path";
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

/**
 * Writes the reference of entry points, from their docstrings. TypeDoc reads the sources with a TypeScript of its own.
 * @param content the folder of the site's pages
 */
export function writeReference(entries: readonly Entry[], content: string): void {
  const out = mkdtempSync(join(tmpdir(), "tollway-reference-"));
  try {
    runTypedoc(entries, out);
    const pages = new Map(entries.map((entry) => [outputOf(entry), entry]));
    for (const [output, { name, page }] of pages) {
      const text = readFileSync(join(out, output), "utf8")
        .replace(/^# .*$/m, `# ${name}`)
        .replaceAll(/\]\(([^)#:]+\.md)/g, (_, link: string) => {
          const target = pages.get(join(dirname(output), link));
          if (target === undefined) throw new Error(`the reference of ${name} has a link to ${link}`);
          return `](./${basename(target.page)}`;
        });
      mkdirSync(dirname(join(content, page)), { recursive: true });
      writeFileSync(join(content, page), text);
    }
  } finally {
    rmSync(out, { recursive: true, force: true });
  }
}

/** TypeDoc's page for an entry point: `tollgate/src.md` for `packages/tollgate/src/index.ts`. */
function outputOf({ module }: Entry): string {
  return relative(packages, module).replace(/(?:\/index)?\.ts$/, ".md");
}

function runTypedoc(entries: readonly Entry[], out: string): void {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [
      join(import.meta.dirname, "node_modules", "typedoc", "bin", "typedoc"),
      ...["--plugin", "typedoc-plugin-markdown", "--logLevel", "Error"],
      ...["--tsconfig", join(repository, "tsconfig.json"), "--skipErrorChecking", "--basePath", packages],
      ...["--router", "module", "--out", out, "--readme", "none", "--disableSources"],
      ...["--excludePrivate", "--excludeInternal", "--excludeExternals"],
      ...["--hideBreadcrumbs", "--hidePageHeader", "--useHTMLAnchors"],
      ...TABLES.flatMap((members) => [`--${members}Format`, "table"]),
      ...entries.map(({ module }) => module),
    ],
    { encoding: "utf8", cwd: import.meta.dirname },
  );
  if (status !== 0) throw new Error(`TypeDoc failed: ${stdout}${stderr}`);
}

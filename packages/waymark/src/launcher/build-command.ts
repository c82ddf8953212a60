import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { basename, dirname, relative, resolve, sep } from "node:path";
import { Application } from "../application/application.ts";
import { prefixesOf } from "../application/options.ts";
import { discover, type FoundModule } from "../routing/discover.ts";
import { hashOf } from "../routing/manifest.ts";
import type { RouteClass, RouteModule } from "../routing/routes.ts";
import type { MethodSignature } from "../signature/model/signature.ts";
import type { Arguments } from "./arguments.ts";
import { LauncherError } from "./launcher-error.ts";

/**
 * Writes the manifest: a module that imports every controller and contains their signatures. A bundler can follow its
 * imports, and a start needs neither sources nor a parser.
 */
export async function build(args: Arguments): Promise<number> {
  if (args.app !== undefined || args.manifest !== undefined)
    throw new LauncherError(
      '"waymark build" takes --prefix: an application of one\'s own imports the manifest',
      2,
    );
  const directory = resolve(args.dir);
  const prefixes = prefixesOf(
    args.prefix.length > 0 ? { controllerPrefix: args.prefix } : {},
    process.env.FRAMEWORK_PREFIX,
  );
  const { roots } = await new Application({ controllerPrefix: prefixes, directory }).load();
  const out = resolve(args.out ?? "waymark.manifest.ts");
  const text = manifestText(
    prefixes.map((prefix) => discover(prefix, directory)),
    roots,
    out,
  );
  if (!existsSync(dirname(out))) throw new LauncherError(`--out=${args.out}: there is no such folder`, 2);
  writeFileSync(out, text);
  console.error(`wrote ${relative(process.cwd(), out) || out}`);
  return 0;
}

function manifestText(found: readonly FoundModule[], roots: readonly RouteModule[], out: string): string {
  const imports: string[] = [];
  const modules: string[] = [];
  const add = (module: FoundModule, route: RouteModule, root: number, path: readonly string[]) => {
    const fields = [`root: ${root}`, `name: ${JSON.stringify(module.name)}`, `path: ${JSON.stringify(path)}`];
    if (module.file !== undefined) {
      const specifier = JSON.stringify(specifierOf(relative(dirname(out), module.file)));
      const name = `m${imports.length}`;
      imports.push(`import * as ${name} from ${specifier};`);
      fields.push(
        `source: here ? new URL(${specifier}, import.meta.url).href : undefined`,
        `hash: ${JSON.stringify(hashOf(readFileSync(module.file)))}`,
        `exports: ${name}`,
      );
    }
    fields.push(`classes: ${JSON.stringify(classesOf(route))}`);
    modules.push(`    { ${fields.join(", ")} },`);
    for (const [segment, child] of module.children)
      add(child, route.children.get(segment)!, root, [...path, segment]);
  };
  for (const [at, module] of found.entries()) add(module, roots[at]!, at, []);
  return `// Written by "waymark build". Do not edit: write it again when a controller changes.
${imports.join("\n")}

// Compiled or bundled, the sources are elsewhere: there is nothing to compare their hashes with.
const here = import.meta.url.endsWith(${JSON.stringify(`/${basename(out)}`)});

export const manifest = {
  version: ${/\.m?js$/.test(out) ? "1" : "1 as const"},
  modules: [
${modules.join("\n")}
  ],
};
`;
}

function specifierOf(path: string): string {
  const posix = path.split(sep).join("/");
  return posix.startsWith(".") ? posix : `./${posix}`;
}

type Signatures = Record<string, Record<string, MethodSignature>>;

function classesOf({ classes, fallback }: RouteModule): Signatures {
  const signatures: Signatures = {};
  const add = (route: RouteClass) => {
    signatures[route.name] = Object.fromEntries(
      [...route.verbs].map(([verb, { signature }]) => [verb, withoutPlace(signature)]),
    );
    for (const member of route.members.values()) add(member);
  };
  if (fallback !== undefined) add(fallback);
  for (const route of classes.values()) if (!Object.hasOwn(signatures, route.name)) add(route);
  return signatures;
}

/** Removes paths of the build machine. They are useless elsewhere and would make builds differ. */
function withoutPlace(signature: MethodSignature): MethodSignature {
  const location = { file: "", line: 0, column: 0 };
  return {
    ...signature,
    location,
    parameters: signature.parameters.map((parameter) => ({ ...parameter, location })),
  };
}

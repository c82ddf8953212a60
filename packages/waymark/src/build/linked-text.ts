import { relative } from "node:path";
import type { FoundModule } from "../routing/discover.ts";
import { loadFile, type Namespace } from "../routing/load.ts";
import type { RouteClass, RouteModule } from "../routing/routes.ts";
import { NO_PLACE, specifierOf, withoutPlace } from "./manifest-text.ts";
import { withoutDocumentation } from "./undocumented.ts";

interface LinkOptions {
  /** The folder that the imports are relative to. */
  readonly folder: string;
  /** Keeps descriptions and inferred types, for the OpenAPI document. */
  readonly documented: boolean;
}

const HELPERS = `const location = ${JSON.stringify(NO_PLACE)};
const linked = (controller, name, segment, signatures, members) => ({
  controller, name, segment, signatures, members,
  verbs: new Map(Object.keys(signatures).map((verb) => [verb, controller.prototype[verb]])),
});
`;

/**
 * The source of a manifest for a bundle. It has the classes themselves, which `waymark build` has found and checked, so
 * that the bundle needs neither the search for them nor the comparison.
 */
export async function linkedText(
  found: readonly FoundModule[],
  roots: readonly RouteModule[],
  options: LinkOptions,
): Promise<string> {
  const imports: string[] = [];
  const entryText = async (module: FoundModule, route: RouteModule, segment: string): Promise<string> => {
    let classes: string[] = [];
    if (module.file !== undefined) {
      const name = `m${imports.length}`;
      imports.push(
        `import * as ${name} from ${quoted(specifierOf(relative(options.folder, module.file)))};\n`,
      );
      const exported = await loadFile(module.file);
      classes = topLevel(route).map(([own, each]) =>
        classText(each, own, `${name}.${exportOf(exported, each)}`, options),
      );
    }
    const children: string[] = [];
    for (const [own, child] of module.children)
      children.push(await entryText(child, route.children.get(own)!, own));
    return `{ name: ${quoted(module.name)}, segment: ${quoted(segment)}, classes: [${classes}], children: [${children}] }`;
  };
  const entries: string[] = [];
  for (const [at, module] of found.entries()) entries.push(await entryText(module, roots[at]!, ""));
  return `${imports.join("")}${HELPERS}const roots = [${entries.join(",\n")}];
export const manifest = {
  version: 2,
  modules: [],
  linked: { roots, signatureOf: ({ signatures }, verb) => signatures[verb] },
};
`;
}

/** A manifest of {@link linkedText} that only has the modules of the application. */
export function modulesOnly(text: string): string {
  const imports = [...text.matchAll(/^import \* as (\w+) from .*$/gm)];
  const names = imports.map(([, name]) => name);
  return `${imports.map(([line]) => `${line}\n`).join("")}export const manifest = [${names}];\n`;
}

/** The classes of a module with their segments, by name. Members of the fallback also have paths of their own. */
function topLevel({ classes, fallback }: RouteModule): [segment: string, route: RouteClass][] {
  const all = [...classes].filter(([, { name }]) => !name.includes("."));
  if (fallback !== undefined) all.push(["default", fallback]);
  return all.sort(([, one], [, other]) => (one.name < other.name ? -1 : 1));
}

/** The export that is a class. Two names mean the fallback. */
function exportOf(exported: Namespace, { name, controller }: RouteClass): string {
  return name === "Default" && exported.Default !== controller ? "default" : name;
}

function classText(route: RouteClass, segment: string, controller: string, options: LinkOptions): string {
  const signatures = Object.fromEntries(
    [...route.verbs].map(([verb, { signature }]) => {
      const placed = withoutPlace(signature);
      return [verb, options.documented ? placed : withoutDocumentation(placed)];
    }),
  );
  const signaturesText = JSON.stringify(signatures).replaceAll(
    `"location":${JSON.stringify(NO_PLACE)}`,
    "location",
  );
  const members = [...route.members].map(([own, member]) => {
    const name = member.name.slice(member.name.lastIndexOf(".") + 1);
    return classText(member, own, `${controller}[${quoted(name)}]`, options);
  });
  return `linked(${controller}, ${quoted(route.name)}, ${quoted(segment)}, ${signaturesText}, [${members}])`;
}

const quoted = (text: string): string => JSON.stringify(text);

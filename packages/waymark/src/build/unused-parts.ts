import type { ApplicationOptions } from "../application/options.ts";
import type { Routes } from "../routing/routes.ts";
import type { MethodSignature } from "../signature/model/signature.ts";

/** What an application uses of Waymark. */
export interface Usage {
  readonly routes: Pick<Routes, "classes">;
  readonly options: Pick<ApplicationOptions, "cors" | "openapi" | "controllers" | "projection">;
}

/** An import that a bundle can do without. */
interface Part {
  /** The importing module and the imported one, relative to the sources and without extension. */
  readonly from: string;
  readonly to: string;
  readonly names: readonly string[];
  readonly isUsed: (usage: Usage, types: Types) => boolean;
  /** The bodies of functions in its place. Default: they throw. */
  readonly instead?: Readonly<Record<string, string>>;
}

/** What the signatures of an application contain. */
interface Types {
  readonly kinds: ReadonlySet<string>;
  readonly hasRefinements: boolean;
}

const REFUSE =
  'throw new Error("this bundle lacks a part that the application did not use when it was built: build it with the same options");';

const COMPILE = "signature/convert/compile";
const REFINEMENTS = "signature/convert/refinements";

function kindPart(file: string, names: readonly string[], ...kinds: readonly string[]): Part {
  const to = `signature/convert/${file}`;
  return { from: COMPILE, to, names, isUsed: (_, types) => kinds.some((kind) => types.kinds.has(kind)) };
}

function refinementPart(from: string, names: readonly string[]): Part {
  return { from, to: REFINEMENTS, names, isUsed: (_, { hasRefinements }) => hasRefinements };
}

const readsBody = ({ routes }: Usage): boolean =>
  routes.classes.some(({ verbs }) => [...verbs.values()].some(({ binder }) => binder.readsBody));

const PARTS: readonly Part[] = [
  {
    from: "application/load-routes",
    to: "application/openapi-pages",
    names: ["openApiPages", "withPages"],
    isUsed: ({ options }) => options.openapi !== undefined && options.openapi !== false,
  },
  {
    from: "application/options",
    to: "http/cors",
    names: ["checkCors"],
    isUsed: ({ options }) => options.cors !== undefined,
  },
  {
    from: "application/application",
    to: "http/cors",
    names: ["addCors", "isPreflight", "preflightAnswer"],
    isUsed: ({ options }) => options.cors !== undefined,
  },
  {
    from: "application/web-platform",
    to: "application/controller-table",
    names: ["allClasses", "plainSignatures", "tableEntry"],
    isUsed: ({ options }) => options.controllers !== undefined,
  },
  { from: "application/web-platform", to: "http/form-data", names: ["formData"], isUsed: readsBody },
  { from: "application/parsed-body", to: "http/json", names: ["decodeUtf8", "parseJson"], isUsed: readsBody },
  {
    from: "signature/bind/binder",
    to: "signature/bind/schema-runner",
    names: ["anyKeywords", "assignSchemaRoles", "compileSchemas"],
    isUsed: ({ routes }) => routes.classes.some(({ controller }) => controller.schema !== undefined),
    instead: {
      assignSchemaRoles: "return arguments[0];",
      compileSchemas: `if (Object.keys(arguments[1]).length === 0) return undefined; ${REFUSE}`,
    },
  },
  {
    from: "routing/build-routes",
    to: "signature/project/projection",
    names: ["compileProjection"],
    // An option that switches it off may depend on the environment.
    isUsed: ({ routes, options }) =>
      options.projection === false ||
      routes.classes.some(({ verbs }) => [...verbs.values()].some(({ project }) => project !== undefined)),
    instead: { compileProjection: "return undefined;" },
  },
  kindPart("unions", ["unionConverter"], "union"),
  kindPart("lists", ["arrayConverter", "tupleConverter"], "array", "tuple"),
  kindPart("objects", ["objectConverter"], "object"),
  kindPart("references", ["referenceConverter"], "reference"),
  kindPart("temporal", ["temporalConverter"], "temporal"),
  refinementPart(COMPILE, ["numberCheck", "stringCheck"]),
  refinementPart("signature/convert/lists", ["listCheck"]),
  refinementPart("signature/convert/objects", ["stringCheck"]),
  {
    from: COMPILE,
    to: "signature/convert/formats",
    names: ["FORMATS"],
    isUsed: (_, { hasRefinements }) => hasRefinements,
  },
];

/**
 * The imports that an application does not need, with the source of a module in place of each. If the application asks
 * for one after all, for instance because an option depends on the environment, its start fails with the reason.
 */
export function unusedParts(usage: Usage): Map<string, string> {
  const types = typesOf(usage);
  const unused = new Map<string, string>();
  for (const { from, to, names, isUsed, instead } of PARTS) {
    if (isUsed(usage, types)) continue;
    const functions = names.map((name) => `export function ${name}() { ${instead?.[name] ?? REFUSE} }\n`);
    unused.set(`${from}>${to}`, functions.join(""));
  }
  return unused;
}

function typesOf({ routes }: Usage): Types {
  const kinds = new Set<string>();
  let hasRefinements = false;
  const visit = (value: unknown): void => {
    if (typeof value !== "object" || value === null) return;
    if ("kind" in value && typeof value.kind === "string") kinds.add(value.kind);
    if ("refinements" in value && value.refinements !== undefined) hasRefinements = true;
    for (const inner of Object.values(value)) visit(inner);
  };
  for (const { verbs } of routes.classes)
    for (const { signature } of verbs.values()) {
      visit(signature.definitions);
      for (const { type, role } of signature.parameters) visit(role === "keywords" ? membersOf(type) : type);
    }
  return { kinds, hasRefinements };
}

/** The binder itself reads the keyword object, so only what it contains is converted. */
function membersOf(type: MethodSignature["parameters"][number]["type"]): unknown {
  if (type.kind !== "object") return type;
  const { kind: _, ...members } = type;
  return members;
}

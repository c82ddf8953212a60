import type { ApplicationOptions } from "../application/options.ts";
import type { Routes } from "../routing/routes.ts";
import type { MethodSignature, TypeNode } from "../signature/model/signature.ts";

/** The parts of Waymark that an application uses. */
export interface Usage {
  readonly routes: Pick<Routes, "classes">;
  readonly options: ApplicationOptions;
  /** True if the application's module passes options. */
  readonly hasOptions: boolean;
  /** True if the manifest has the classes themselves: see `linkedText`. */
  readonly isLinked: boolean;
  /** True if every request is a WHATWG `Request`. */
  readonly isFetch: boolean;
  /** True if the runtime has the modules of Node. */
  readonly hasNode: boolean;
  /** The source of the application in the bundle without Waymark, for the names that it contains. */
  readonly code: string;
}

/** The types that the signatures of an application contain. */
export interface Types {
  readonly kinds: ReadonlySet<string>;
  readonly hasRefinements: boolean;
  /** Whether an object type accepts names that it does not declare. */
  readonly hasOtherNames: boolean;
  /** Whether a method may return a stream, a file or a `Response`. */
  readonly returnsStreams: boolean;
}

export function typesOf({ routes }: Usage): Types {
  const kinds = new Set<string>();
  let hasRefinements = false;
  let hasOtherNames = false;
  let returnsStreams = false;
  const visit = (value: unknown): void => {
    if (typeof value !== "object" || value === null) return;
    if ("kind" in value && typeof value.kind === "string") kinds.add(value.kind);
    if ("refinements" in value && value.refinements !== undefined) hasRefinements = true;
    if ("index" in value || "patterns" in value) hasOtherNames = true;
    for (const inner of Object.values(value)) visit(inner);
  };
  for (const { verbs, controller } of routes.classes) {
    // A schema takes any value, under any name.
    if (controller.schema !== undefined) {
      kinds.add("unknown");
      hasOtherNames = true;
    }
    for (const { signature } of verbs.values()) {
      visit(signature.definitions);
      for (const { type, role } of signature.parameters) visit(role === "keywords" ? membersOf(type) : type);
      if (signature.returns === undefined || !isData(signature.returns)) returnsStreams = true;
    }
  }
  return { kinds, hasRefinements, hasOtherNames, returnsStreams };
}

/** True for a type whose values are never streams, files or `Response`s. */
function isData(type: TypeNode): boolean {
  if (type.kind === "union") return type.members.every(isData);
  return DATA.has(type.kind);
}

const DATA: ReadonlySet<TypeNode["kind"]> = new Set([
  "string",
  "number",
  "boolean",
  "bigint",
  "date",
  "url",
  "null",
  "undefined",
  "never",
  "bytes",
  "literal",
  "temporal",
  "array",
  "tuple",
  "object",
]);

/** The binder itself reads the keyword object, so only what it contains is converted. */
function membersOf(type: MethodSignature["parameters"][number]["type"]): unknown {
  if (type.kind !== "object") return type;
  const { kind: _, ...members } = type;
  return members;
}

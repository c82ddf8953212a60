import type { MethodSignature, Parameter, TypeNode } from "../signature/model/signature.ts";

const DOCUMENTATION: ReadonlySet<string> = new Set(["description", "deprecated", "examples"]);

/** A signature without what only the OpenAPI document shows. A return type stays if it is written, for the projection. */
export function withoutDocumentation(signature: MethodSignature): MethodSignature {
  const { verb, parameters, location, returns, inferred } = signature;
  const definitions = Object.entries(signature.definitions).map(([name, type]) => [name, undocumented(type)]);
  return {
    verb,
    parameters: parameters.map((parameter) => undocumented(parameter) as Parameter),
    ...(returns !== undefined && inferred !== true && { returns: undocumented(returns) as TypeNode }),
    location,
    definitions: Object.fromEntries(definitions),
  };
}

/** Walks types only: the members of their literals and defaults are data. */
function undocumented(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(undocumented);
  if (typeof value !== "object" || value === null) return value;
  const kept = Object.entries(value).filter(([name]) => !DOCUMENTATION.has(name));
  return Object.fromEntries(kept.map(([name, inner]) => [name, isData(name) ? inner : undocumented(inner)]));
}

function isData(name: string): boolean {
  return name === "default" || name === "value" || name === "refinements";
}

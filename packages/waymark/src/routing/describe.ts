import { relative } from "node:path";
import type { MethodSignature, Parameter, TypeNode } from "../signature/model/signature.ts";
import { isOpenApiPage } from "./added-pages.ts";
import type { RouteClass, Routes } from "./routes.ts";

/** One line of the table of routes. */
export interface RouteLine {
  readonly verb: string;
  /** `/foo/<id: number> ? verbose?: boolean`. */
  readonly path: string;
  /** `controllers.ts:9`; the class if its source is unknown; the option that adds a route of Waymark itself. */
  readonly place: string;
}

/** All routes by path and verb, for a review of what is public. */
export function routeLines(routes: Routes, directory: string): RouteLine[] {
  const lines = routes.classes.flatMap((route) =>
    [...route.verbs.values()].map(({ verb, signature }) => ({
      verb,
      path: pathText(route.path, signature),
      place: placeOf(signature, directory, withoutSource(route)),
    })),
  );
  return lines.sort((one, other) => compare(one.path, other.path) || compare(one.verb, other.verb));
}

export function formatRoutes(lines: readonly RouteLine[]): string {
  const verbs = Math.max(0, ...lines.map(({ verb }) => verb.length));
  const paths = Math.max(0, ...lines.map(({ path }) => Math.min(path.length, 80)));
  return lines
    .map(({ verb, path, place }) => `${verb.padEnd(verbs)}  ${path.padEnd(paths)}  ${place}\n`)
    .join("");
}

function compare(one: string, other: string): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}

function withoutSource(route: RouteClass): string {
  return isOpenApiPage(route) ? "the option openapi" : `${route.module}:${route.name}`;
}

function placeOf({ location }: MethodSignature, directory: string, otherwise: string): string {
  return location.file === "" ? otherwise : `${relative(directory, location.file)}:${location.line}`;
}

function pathText(path: string, signature: MethodSignature): string {
  const steps = path === "/" ? [] : [path];
  let keywords = "";
  for (const parameter of signature.parameters) {
    if (parameter.role === "keywords") keywords = keywordsText(parameter);
    else if (parameter.role === "rest") steps.push(`/<...${parameter.name}: ${typeText(parameter.type)}>`);
    else steps.push(`/<${parameter.name}${parameter.optional ? "?" : ""}: ${typeText(parameter.type)}>`);
  }
  return (steps.join("") || "/") + (keywords === "" ? "" : ` ? ${keywords}`);
}

function keywordsText({ name, type }: Parameter): string {
  return type.kind === "object" ? membersText(type) : `${name}: ${typeText(type)}`;
}

function membersText(type: Extract<TypeNode, { kind: "object" }>): string {
  const members = type.properties.map(
    (property) => `${property.name}${property.optional ? "?" : ""}: ${typeText(property.type)}`,
  );
  for (const { pattern, type: own } of type.patterns ?? []) members.push(`/${pattern}/: ${typeText(own)}`);
  if (type.index !== undefined) members.push(`...: ${typeText(type.index)}`);
  return members.join(", ");
}

const NAMES: Readonly<Record<string, string>> = {
  date: "Date",
  url: "URL",
  file: "File",
  blob: "Blob",
  bytes: "Uint8Array",
  untyped: "string",
  nonNull: "{}",
  response: "Response",
};

/** A short text for a type, as a TypeScript author would write it. */
export function typeText(type: TypeNode): string {
  switch (type.kind) {
    case "literal":
      return typeof type.value === "object" ? `${type.value.bigint}n` : JSON.stringify(type.value);
    case "union":
      return type.members.map(typeText).join(" | ");
    case "array":
      return type.items.kind === "union" ? `(${typeText(type.items)})[]` : `${typeText(type.items)}[]`;
    case "tuple":
      return `[${type.items.map((item) => typeText(item.type) + (item.optional ? "?" : "")).join(", ")}]`;
    case "object":
      return type.name ?? `{ ${membersText(type)} }`;
    case "reference":
      return type.name;
    case "temporal":
      return `Temporal.${type.type}`;
    case "unreadable":
      return type.text;
    case "stream":
      return `stream of ${typeText(type.items)}`;
    default:
      return NAMES[type.kind] ?? type.kind;
  }
}

import type { ObjectNode, PropertyNode } from "../model/signature.ts";
import { mapped } from "./lists.ts";
import { isObject, isOpaque } from "./opaque.ts";
import type { Projection, ProjectionContext } from "./projection-context.ts";

/** Keeps the declared properties. The same object if it has no others. */
export function objectProjection(
  { properties, index, patterns = [] }: Pick<ObjectNode, "properties" | "index" | "patterns">,
  context: ProjectionContext,
): Projection | undefined {
  const others = index && context.project(index);
  const declared = new Map(properties.map(({ name, type }: PropertyNode) => [name, context.project(type)]));
  const byPattern = patterns.map(({ pattern, type }) => ({
    expression: new RegExp(pattern, "u"),
    project: context.project(type),
  }));
  const isOpen = index !== undefined;
  const changesNone = others === undefined && [...declared.values()].every((one) => one === undefined);
  // `object` and `{}` declare nothing.
  if (changesNone && patterns.length === 0 && (isOpen || properties.length === 0)) return undefined;
  const project = (value: unknown): unknown => {
    if (!isObject(value)) return value;
    // A wrong list still sends no more than the declared properties.
    if (Array.isArray(value)) return mapped(value, () => project);
    const source = value as Record<string, unknown>;
    if (typeof source.toJSON === "function") return value;
    const names = Object.keys(source);
    let copy: Record<string, unknown> | undefined;
    for (let at = 0; at < names.length; at++) {
      const name = names[at]!;
      const known = declared.get(name);
      const isDeclared = known !== undefined || declared.has(name);
      const matched = isDeclared ? undefined : byPattern.find(({ expression }) => expression.test(name));
      const given = isDeclared ? known : matched === undefined ? others : matched.project;
      const isSent = isDeclared || isOpen || matched !== undefined;
      const own = source[name];
      const made = isSent && given !== undefined ? given(own) : own;
      if (isSent && made === own && copy === undefined) continue;
      if (copy === undefined) {
        if (isOpaque(value)) return value;
        copy = copyOf(source, names, at);
      }
      if (isSent) put(copy, name, made);
    }
    return copy ?? value;
  };
  return project;
}

function copyOf(
  source: Record<string, unknown>,
  names: readonly string[],
  end: number,
): Record<string, unknown> {
  const copy: Record<string, unknown> = {};
  for (let at = 0; at < end; at++) put(copy, names[at]!, source[names[at]!]);
  return copy;
}

function put(target: Record<string, unknown>, name: string, value: unknown): void {
  if (name === "__proto__")
    Object.defineProperty(target, name, { value, enumerable: true, configurable: true, writable: true });
  else target[name] = value;
}

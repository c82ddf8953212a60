import { ServerSentEvent } from "../../http/server-sent-event.ts";
import type { MethodSignature, TypeNode } from "../model/signature.ts";
import { mapped } from "./lists.ts";
import { mapItems } from "./map-items.ts";
import { objectProjection } from "./object-projection.ts";
import { hasItems, isObject } from "./opaque.ts";
import type { Projection, ProjectionContext } from "./projection-context.ts";
import { unionProjection } from "./union-projection.ts";

/**
 * The projection of a method's written return type. Undefined if nothing needs one: no type, an inferred one, or a type
 * without declared properties.
 */
export function compileProjection({
  returns,
  inferred,
  definitions,
}: Pick<MethodSignature, "returns" | "inferred" | "definitions">): Projection | undefined {
  if (returns === undefined || inferred === true) return undefined;
  const references = new Map<string, Projection>();
  const context: ProjectionContext = {
    definitions,
    project: (type) => compile(type, context, references),
  };
  return context.project(returns);
}

function compile(
  type: TypeNode,
  context: ProjectionContext,
  references: Map<string, Projection>,
): Projection | undefined {
  switch (type.kind) {
    case "array":
      return lists(context.project(type.items));
    case "tuple":
      return tuples(
        type.items.map((item) => context.project(item.type)),
        type.rest && context.project(type.rest),
      );
    case "object":
      return objectProjection(type, context);
    case "union":
      return unionProjection(type, context);
    case "stream": {
      const project = context.project(type.items);
      if (project === undefined) return undefined;
      const item = (value: unknown) => projectedItem(value, project);
      return (value) => (isObject(value) && hasItems(value) ? mapItems(value, item) : value);
    }
    case "reference":
      return reference(type.name, context, references);
    default:
      return undefined;
  }
}

/** The declared type of an event is that of its data. */
function projectedItem(item: unknown, project: Projection): unknown {
  if (!ServerSentEvent.is(item)) return project(item);
  return item.data === undefined ? item : item.withData(project(item.data));
}

/** A type that contains itself is compiled when a value first needs it. */
function reference(
  name: string,
  context: ProjectionContext,
  references: Map<string, Projection>,
): Projection {
  let known = references.get(name);
  if (known === undefined) {
    let compiled: { project: Projection | undefined } | undefined;
    known = (value) => {
      compiled ??= { project: context.project(context.definitions[name]!) };
      return compiled.project === undefined ? value : compiled.project(value);
    };
    references.set(name, known);
  }
  return known;
}

function lists(project: Projection | undefined): Projection | undefined {
  // A value that is not a list is projected like an item, because the type declares no other properties.
  return project && ((value) => (Array.isArray(value) ? mapped(value, () => project) : project(value)));
}

function tuples(
  items: readonly (Projection | undefined)[],
  rest: Projection | undefined,
): Projection | undefined {
  if (rest === undefined && items.every((item) => item === undefined)) return undefined;
  return (value) =>
    Array.isArray(value) ? mapped(value, (at) => (at < items.length ? items[at] : rest)) : value;
}

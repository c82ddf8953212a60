import type { TypeNode } from "../model/signature.ts";
import { intersectionOf, NEVER, splitUndefined, unionOf } from "./combine.ts";

/** A property whose type is read on demand, so that operators support types that contain themselves. */
export interface ShapeProperty {
  readonly optional: boolean;
  readonly description: string;
  readonly read: () => TypeNode;
  /** The shape of its type, for nested operators. */
  readonly shape: () => Shape | undefined;
}

/** The outline of an object type, as `keyof`, `Pick` and `T["x"]` need it. */
export interface Shape {
  readonly name?: string;
  readonly description?: string;
  readonly properties: ReadonlyMap<string, ShapeProperty>;
  readonly index?: Pick<ShapeProperty, "read" | "shape">;
}

export function readShape({ name, description, properties, index }: Shape): TypeNode {
  return {
    kind: "object",
    ...(name && { name }),
    properties: [...properties].map(([propertyName, property]) => {
      const { type, optional } = splitUndefined(property.read());
      return {
        name: propertyName,
        type,
        optional: property.optional || optional,
        ...(property.description && { description: property.description }),
      };
    }),
    ...(index && { index: index.read() }),
    ...(description && { description }),
  };
}

export function withOptional(shape: Shape, optional: boolean): Shape {
  return {
    ...unnamed(shape),
    properties: new Map([...shape.properties].map(([name, property]) => [name, { ...property, optional }])),
  };
}

export function pick(shape: Shape, names: readonly string[]): Shape {
  return {
    properties: new Map(
      names.flatMap((name) => {
        const property = shape.properties.get(name);
        return property ? [[name, property] as const] : [];
      }),
    ),
  };
}

export function omit(shape: Shape, names: readonly string[]): Shape {
  return {
    ...unnamed(shape),
    properties: new Map([...shape.properties].filter(([name]) => !names.includes(name))),
  };
}

const unnamed = ({ name: _name, ...shape }: Shape): Shape => shape;

/** Later shapes override earlier ones, as in `interface B extends A`. */
export function extend(shapes: readonly Shape[]): Shape {
  const index = shapes.findLast((shape) => shape.index)?.index;
  return { properties: new Map(shapes.flatMap((shape) => [...shape.properties])), ...(index && { index }) };
}

/** The common properties of a union's members, which `keyof` and `T["x"]` see. */
export function common(shapes: readonly Shape[]): Shape {
  const [first, ...others] = shapes;
  if (!first) return { properties: new Map() };
  const names = [...first.properties.keys()].filter((name) =>
    others.every((shape) => shape.properties.has(name)),
  );
  return {
    properties: new Map(
      names.map((name) => {
        const all = shapes.map((shape) => shape.properties.get(name)!);
        return [
          name,
          {
            optional: all.some((property) => property.optional),
            description: all[0]!.description,
            read: () => unionOf(all.map((property) => property.read())),
            shape: () => undefined,
          },
        ];
      }),
    ),
  };
}

/** The shape of a type that has been read. */
export function shapeOfType(type: TypeNode): Shape | undefined {
  if (type.kind !== "object") return undefined;
  const known = (property: TypeNode | undefined): Pick<ShapeProperty, "read" | "shape"> => ({
    read: () => property ?? NEVER,
    shape: () => property && shapeOfType(property),
  });
  return {
    properties: new Map(
      type.properties.map(({ name, type: own, optional, description = "" }) => [
        name,
        { optional, description, ...known(own) },
      ]),
    ),
    ...(type.index && { index: known(type.index) }),
  };
}

/** The properties of an intersection. A property of several parts has the intersection of its types. */
export function intersect(shapes: readonly Shape[]): Shape {
  const properties = new Map<string, ShapeProperty>();
  for (const [name, property] of shapes.flatMap((shape) => [...shape.properties])) {
    const known = properties.get(name);
    properties.set(
      name,
      known
        ? {
            optional: known.optional && property.optional,
            description: property.description || known.description,
            read: () => intersectionOf([known.read(), property.read()]),
            shape: () => {
              const parts = [known.shape(), property.shape()].filter((part) => part !== undefined);
              return parts.length > 0 ? intersect(parts) : undefined;
            },
          }
        : property,
    );
  }
  const index = shapes.findLast((shape) => shape.index)?.index;
  return { properties, ...(index && { index }) };
}

export const withoutUndefined = (type: TypeNode): TypeNode => splitUndefined(type).type;

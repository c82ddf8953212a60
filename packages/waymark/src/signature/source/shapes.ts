import type { TypeNode } from "../model/signature.ts";
import { NEVER, NON_NULL, splitUndefined, unionOf, valuesOfAll } from "./combine.ts";
import type { Documentation } from "./documentation.ts";

/** A property whose type is read on demand, so that operators support types that contain themselves. */
export interface ShapeProperty {
  readonly optional: boolean;
  readonly documentation: Documentation;
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
  if (properties.size === 0 && !index) return NON_NULL;
  return {
    kind: "object",
    ...(name && { name }),
    properties: [...properties].map(([propertyName, property]) => {
      const { type, optional } = splitUndefined(property.read());
      return {
        name: propertyName,
        type,
        optional: property.optional || optional,
        ...property.documentation,
      };
    }),
    ...(index && { index: splitUndefined(index.read()).type }),
    ...(description && { description }),
  };
}

export function asOptional(shape: Shape): Shape {
  return {
    ...unnamed(shape),
    properties: new Map([...shape.properties].map(([name, own]) => [name, { ...own, optional: true }])),
  };
}

/** `fail` is called for a property whose type does not show whether its `undefined` comes from `?`. */
export function asRequired(shape: Shape, fail: () => never): Shape {
  return {
    ...unnamed(shape),
    properties: new Map([...shape.properties].map(([name, own]) => [name, requiredProperty(own, fail)])),
  };
}

/** `-?` removes the `undefined` of `?`, but not one that is written. */
export function requiredProperty(property: ShapeProperty, fail: () => never): ShapeProperty {
  if (!property.optional) return property;
  const read = (): TypeNode => {
    const type = property.read();
    return splitUndefined(type).optional ? fail() : type;
  };
  return { ...property, optional: false, read };
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
            documentation: all[0]!.documentation,
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
  if (type.kind !== "object" || type.patterns) return undefined;
  const known = (property: TypeNode | undefined): Pick<ShapeProperty, "read" | "shape"> => ({
    read: () => property ?? NEVER,
    shape: () => property && shapeOfType(property),
  });
  return {
    properties: new Map(
      type.properties.map(({ name, type: own, optional, ...documentation }) => [
        name,
        { optional, documentation, ...known(own) },
      ]),
    ),
    ...(type.index && { index: known(type.index) }),
  };
}

/**
 * The properties of an intersection. A property of several parts has the intersection of its types. `fail` is called
 * for an intersection that no type node represents.
 */
export function intersect(shapes: readonly Shape[], fail: () => never): Shape {
  const both = (
    parts: readonly Pick<ShapeProperty, "read" | "shape">[],
  ): Pick<ShapeProperty, "read" | "shape"> =>
    parts.length === 1
      ? parts[0]!
      : {
          read: () => valuesOfAll(parts.map((part) => part.read())) ?? fail(),
          shape: () => {
            const own = parts.map((part) => part.shape());
            return own.every((part) => part !== undefined) ? intersect(own, fail) : undefined;
          },
        };
  const names = new Set(shapes.flatMap((shape) => [...shape.properties.keys()]));
  const properties = [...names].map((name): [string, ShapeProperty] => {
    const declared = shapes.flatMap((shape) => shape.properties.get(name) ?? []);
    // An index signature applies to the declared names of the other parts.
    const indexes = shapes.flatMap((shape) => (shape.properties.has(name) ? [] : (shape.index ?? [])));
    return [
      name,
      {
        optional: declared.every((property) => property.optional),
        documentation: Object.assign({}, ...declared.map((property) => property.documentation)),
        ...both([...declared, ...indexes]),
      },
    ];
  });
  const indexes = shapes.flatMap((shape) => shape.index ?? []);
  return { properties: new Map(properties), ...(indexes.length > 0 && { index: both(indexes) }) };
}

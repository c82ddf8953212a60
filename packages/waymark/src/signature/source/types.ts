import type {
  Node,
  TSImportType,
  TSInterfaceDeclaration,
  TSMappedType,
  TSSignature,
  TSTupleElement,
  TSType,
  TSTypeName,
  TSTypeParameterDeclaration,
  TSTypeReference,
} from "oxc-parser";
import { SignatureError } from "../errors.ts";
import type { TupleItem, TypeNode } from "../model.ts";
import { refineType } from "../refine.ts";
import { intersectionOf, literal, literalNames, NEVER, UNKNOWN, unionOf } from "./combine.ts";
import { type DocComment, type RefinementTag, readDocComment } from "./jsdoc.ts";
import type { SourceModule } from "./module.ts";
import type { SourceModules } from "./modules.ts";
import { readReturnType } from "./returns.ts";
import { Scope, type TypeDeclaration } from "./scope.ts";
import * as shapes from "./shapes.ts";
import { primitiveValue, propertyName, type ValueContext, valueType } from "./values.ts";

const WAYS_OUT =
  "Write the type plainly, give the argument a schema (`static schema`), or declare it `unknown`.";
/** More than any honest type has; types that grow without end are stopped here. */
const MAXIMUM_STEPS = 20_000;
const MAXIMUM_DEPTH = 300;

type Declared = Exclude<TypeDeclaration, { kind: "import" }>;
type Arguments = readonly TSType[];

/** Reads the types of one signature; types that contain themselves gather in `definitions`. */
export class TypeReader {
  readonly definitions: Record<string, TypeNode> = {};
  readonly #modules: SourceModules;
  /** The named types being read, so that one met again within itself becomes a reference. */
  readonly #open = new Map<string, { name: string | undefined }>();
  readonly #recursive = new Map<string, string>();
  #steps = 0;
  #depth = 0;

  constructor(modules: SourceModules) {
    this.#modules = modules;
  }

  /** @throws SignatureError at the part that cannot be read */
  read(node: TSType, scope: Scope): TypeNode {
    return this.#bounded(node, scope, () => this.#read(node, scope));
  }

  /** What operators see of an object type; nothing for any other type. */
  shape(node: TSType, scope: Scope): shapes.Shape | undefined {
    return this.#bounded(node, scope, () => this.#shape(node, scope));
  }

  #bounded<Result>(node: TSType, scope: Scope, read: () => Result): Result {
    if (++this.#steps > MAXIMUM_STEPS || ++this.#depth > MAXIMUM_DEPTH)
      this.fail(node, scope, "it grows without end");
    try {
      return read();
    } finally {
      this.#depth--;
    }
  }

  #read(node: TSType, scope: Scope): TypeNode {
    switch (node.type) {
      case "TSStringKeyword":
        return { kind: "string" };
      case "TSNumberKeyword":
        return { kind: "number" };
      case "TSBigIntKeyword":
        return { kind: "bigint" };
      case "TSBooleanKeyword":
        return { kind: "boolean" };
      case "TSNullKeyword":
        return { kind: "null" };
      case "TSUndefinedKeyword":
      case "TSVoidKeyword":
        return { kind: "undefined" };
      case "TSUnknownKeyword":
      case "TSAnyKeyword":
        return UNKNOWN;
      case "TSNeverKeyword":
        return NEVER;
      case "TSObjectKeyword":
        return { kind: "object", properties: [], index: UNKNOWN };
      case "TSLiteralType": {
        const value = primitiveValue(node.literal);
        return value === undefined || value === null
          ? this.fail(node, scope, "it is no literal")
          : literal(value);
      }
      case "TSTemplateLiteralType":
        return this.#template(node, scope);
      case "TSUnionType":
        return unionOf(node.types.map((member) => this.read(member, scope)));
      case "TSArrayType":
        return { kind: "array", items: this.read(node.elementType, scope) };
      case "TSTupleType":
        return this.#tuple(node.elementTypes, scope);
      case "TSParenthesizedType":
        return this.read(node.typeAnnotation, scope);
      case "TSTypeOperator":
        if (node.operator === "readonly") return this.read(node.typeAnnotation, scope);
        return node.operator === "keyof" ? this.#keys(node.typeAnnotation, scope) : this.fail(node, scope);
      case "TSIntersectionType": {
        const shape = this.shape(node, scope);
        return shape
          ? shapes.readShape(shape)
          : intersectionOf(node.types.map((part) => this.read(part, scope)));
      }
      case "TSTypeLiteral":
      case "TSMappedType":
        return shapes.readShape(this.shape(node, scope)!);
      case "TSIndexedAccessType":
        return this.#indexed(node.objectType, node.indexType, scope);
      case "TSTypeQuery":
        if (node.exprName.type === "TSImportType") return this.fail(node, scope);
        return (
          this.#constant(namePath(node.exprName), scope) ??
          this.fail(node, scope, "its value is not written out")
        );
      case "TSImportType":
      case "TSTypeReference":
        return this.#reference(node, scope);
      default:
        return this.fail(node, scope);
    }
  }

  #shape(node: TSType, scope: Scope): shapes.Shape | undefined {
    switch (node.type) {
      case "TSTypeLiteral":
        return this.#members(node.members, scope);
      case "TSMappedType":
        return this.#mapped(node, scope);
      case "TSParenthesizedType":
        return this.shape(node.typeAnnotation, scope);
      case "TSTypeOperator":
        return node.operator === "readonly" ? this.shape(node.typeAnnotation, scope) : undefined;
      case "TSIntersectionType": {
        const parts = node.types.map((part) => this.shape(part, scope));
        return parts.every((part) => part !== undefined) ? shapes.intersect(parts) : undefined;
      }
      case "TSTypeQuery":
        return shapes.shapeOfType(this.read(node, scope));
      case "TSIndexedAccessType": {
        const names = literalNames(this.read(node.indexType, scope));
        return names?.length === 1
          ? this.#commonShape(node.objectType, scope)?.properties.get(names[0]!)?.shape()
          : undefined;
      }
      case "TSImportType":
      case "TSTypeReference":
        return this.#referenceShape(node, scope);
      default:
        return undefined;
    }
  }

  /** The type that a default or a constant has. */
  valueType(node: Parameters<typeof valueType>[0], scope: Scope): TypeNode | undefined {
    return valueType(node, false, this.#valueContext(scope));
  }

  /** What is written behind a method's parameters; what cannot be read is kept as text. */
  returnType(node: TSType, scope: Scope): TypeNode {
    return readReturnType(node, (part) => this.read(part, scope), scope);
  }

  /** Adds JSDoc refinements to a type. */
  refine(type: TypeNode, tags: readonly RefinementTag[], module: SourceModule): TypeNode {
    return tags.reduce((refined, { key, text, offset }) => {
      const result = refineType(refined, key, text);
      if ("type" in result) return result.type;
      throw new SignatureError(
        "INVALID_REFINEMENT",
        `@${key} ${result.problem}`,
        module.source.location(offset),
      );
    }, type);
  }

  fail(node: Node, scope: Scope, reason = "Waymark reads no such type"): never {
    const { source } = scope.module;
    const text = source.slice(node).replace(/\s+/g, " ");
    const shown = text.length > 60 ? `${text.slice(0, 57)}...` : text;
    throw new SignatureError(
      "UNREADABLE_TYPE",
      `cannot read the type \`${shown}\`: ${reason}. ${WAYS_OUT}`,
      source.location(node.start),
    );
  }

  #template(node: Extract<TSType, { type: "TSTemplateLiteralType" }>, scope: Scope): TypeNode {
    let texts = [node.quasis[0]!.value.cooked ?? ""];
    for (const [index, part] of node.types.entries()) {
      const names = literalNames(this.read(part, scope));
      if (!names)
        return this.fail(node, scope, "its parts are not literals (a JSDoc `@pattern` on string may do)");
      const tail = node.quasis[index + 1]!.value.cooked ?? "";
      texts = texts.flatMap((text) => names.map((name) => text + name + tail));
      if (texts.length > MAXIMUM_STEPS) return this.fail(node, scope, "it stands for too many texts");
    }
    return unionOf(texts.map((text) => literal(text)));
  }

  #tuple(elements: readonly TSTupleElement[], scope: Scope): TypeNode {
    const items: TupleItem[] = [];
    let rest: TypeNode | undefined;
    for (const element of elements) {
      const named = element.type === "TSNamedTupleMember";
      const own: TSTupleElement = named ? element.elementType : element;
      if (own.type === "TSRestType") {
        const inner = own.typeAnnotation;
        const type = this.read(
          inner.type === "TSNamedTupleMember" ? (inner.elementType as TSType) : inner,
          scope,
        );
        if (rest || (type.kind !== "array" && type.kind !== "tuple")) return this.fail(element, scope);
        if (type.kind === "array") rest = type.items;
        else items.push(...type.items);
      } else if (rest) {
        return this.fail(element, scope, "nothing may follow the rest of a tuple");
      } else if (own.type === "TSOptionalType") {
        items.push({ type: this.read(own.typeAnnotation, scope), optional: true });
      } else {
        items.push({ type: this.read(own, scope), optional: named && element.optional });
      }
    }
    return { kind: "tuple", items, ...(rest && { rest }) };
  }

  #keys(node: TSType, scope: Scope): TypeNode {
    const shape = this.#commonShape(node, scope);
    if (!shape) return this.fail(node, scope, "only the keys of an object type can be listed");
    const names = [...shape.properties.keys()].map((name) => literal(name));
    return unionOf(shape.index ? [...names, { kind: "string" }] : names);
  }

  #indexed(objectNode: TSType, indexNode: TSType, scope: Scope): TypeNode {
    const index = this.read(indexNode, scope);
    const shape = this.#commonShape(objectNode, scope);
    if (!shape) {
      const list = this.read(objectNode, scope);
      if (list.kind === "array") return list.items;
      if (list.kind !== "tuple") return this.fail(objectNode, scope, "it has no such part");
      if (index.kind === "number")
        return unionOf([...list.items.map((item) => item.type), ...(list.rest ? [list.rest] : [])]);
      const item = list.items[Number(literalNames(index)?.[0])];
      return item ? item.type : this.fail(indexNode, scope, "the tuple has no such item");
    }
    const names = literalNames(index);
    if (!names && shape.index) return shape.index.read();
    if (!names) return this.fail(indexNode, scope, "it is not the name of a property");
    return unionOf(
      names.map((name) => {
        const property = shape.properties.get(name) ?? shape.index;
        if (!property) return this.fail(indexNode, scope, `there is no property "${name}"`);
        const type = property.read();
        return "optional" in property && property.optional ? unionOf([type, { kind: "undefined" }]) : type;
      }),
    );
  }

  #constant(path: readonly string[], scope: Scope): TypeNode | undefined {
    for (let own = path.length; own > 0; own--) {
      const found = this.#modules.findValue(path.slice(0, own), scope);
      if (found?.kind !== "declaration") continue;
      const { declaration } = found;
      if (declaration.kind !== "const") return undefined;
      const { init, type: written, scope: outer } = declaration;
      const isPrimitive = init !== null && primitiveValue(init) !== undefined;
      const type = written
        ? this.read(written, outer)
        : init && valueType(init, isPrimitive, this.#valueContext(outer));
      return path
        .slice(own)
        .reduce<TypeNode | undefined>(
          (target, name) =>
            target?.kind === "object"
              ? target.properties.find((property) => property.name === name)?.type
              : undefined,
          type ?? undefined,
        );
    }
    return undefined;
  }

  #valueContext(scope: Scope): ValueContext {
    return {
      constant: (path) => this.#constant(path, scope),
      annotation: (node) => this.read(node, scope),
    };
  }

  #members(members: readonly TSSignature[], scope: Scope): shapes.Shape {
    const properties = new Map<string, shapes.ShapeProperty>();
    let index: shapes.Shape["index"];
    for (const member of members) {
      if (member.type === "TSIndexSignature") {
        index = this.#lazy(member.typeAnnotation.typeAnnotation, scope);
        continue;
      }
      if (member.type !== "TSPropertySignature") {
        return this.fail(member, scope, "a function cannot come in a request");
      }
      const name = propertyName(member);
      if (name === undefined) return this.fail(member, scope, "its name is not written out");
      const doc = readDocComment(scope.module, member.start);
      const own = member.typeAnnotation?.typeAnnotation;
      const lazy = own ? this.#lazy(own, scope) : { read: () => UNKNOWN, shape: () => undefined };
      properties.set(name, {
        optional: member.optional,
        description: doc.description,
        ...lazy,
        read: () => this.refine(lazy.read(), doc.refinements, scope.module),
      });
    }
    return { properties, ...(index && { index }) };
  }

  #lazy(node: TSType, scope: Scope): Pick<shapes.ShapeProperty, "read" | "shape"> {
    return { read: () => this.read(node, scope), shape: () => this.shape(node, scope) };
  }

  #mapped(node: TSMappedType, scope: Scope): shapes.Shape {
    const value = node.typeAnnotation;
    if (!value || node.nameType) return this.fail(node, scope);
    const keys = this.read(node.constraint, scope);
    const names = literalNames(keys);
    // `[K in keyof T]` keeps what is optional in T
    const origin =
      node.constraint.type === "TSTypeOperator" && node.constraint.operator === "keyof"
        ? this.#commonShape(node.constraint.typeAnnotation, scope)
        : undefined;
    const within = (name: string): Scope => {
      const inner = new Scope(scope.module, scope, `${scope.instance}[${name}]`);
      inner.types.set(node.key.name, { kind: "key", name });
      return inner;
    };
    if (!names) {
      if (keys.kind !== "string" && keys.kind !== "number")
        return this.fail(node.constraint, scope, "its names are not literals");
      return { properties: new Map(), index: this.#lazy(value, scope) };
    }
    return {
      properties: new Map(
        names.map((name) => {
          const known = origin?.properties.get(name);
          const optional = node.optional === "-" ? false : node.optional ? true : (known?.optional ?? false);
          const lazy = this.#lazy(value, within(name));
          const read = node.optional === "-" ? () => shapes.withoutUndefined(lazy.read()) : lazy.read;
          return [name, { optional, description: known?.description ?? "", shape: lazy.shape, read }];
        }),
      ),
    };
  }

  #commonShape(node: TSType, scope: Scope): shapes.Shape | undefined {
    const own = this.shape(node, scope);
    if (own) return own;
    const union = this.#unionMembers(node, scope);
    const members = union?.map(({ node: member, scope: within }) => this.#commonShape(member, within));
    return members?.every((member) => member !== undefined) ? shapes.common(members) : undefined;
  }

  /** The members of a union, through the names that stand for it. */
  #unionMembers(node: TSType, scope: Scope): { node: TSType; scope: Scope }[] | undefined {
    if (node.type === "TSUnionType") return node.types.map((member) => ({ node: member, scope }));
    if (node.type !== "TSTypeReference" && node.type !== "TSImportType") return undefined;
    const found = this.#find(node, scope);
    if (found?.kind === "bound") return this.#unionMembers(found.node, found.scope);
    if (found?.kind === "parameter")
      return found.node.constraint ? this.#unionMembers(found.node.constraint, found.scope) : undefined;
    if (found?.kind !== "alias") return undefined;
    const inner = this.#instantiate(found.node.typeParameters, found.scope, node, scope);
    return this.#unionMembers(found.node.typeAnnotation, inner);
  }

  #find(node: TSTypeReference | TSImportType, scope: Scope): Declared | undefined {
    const found =
      node.type === "TSImportType"
        ? this.#modules.findImportedType(
            node.source.value,
            node.qualifier ? namePath(node.qualifier) : [],
            scope,
            node.start,
          )
        : this.#modules.findType(namePath(node.typeName), scope);
    if (found?.kind === "module") return this.fail(node, scope, "it is a module, not a type");
    return found?.declaration;
  }

  #reference(node: TSTypeReference | TSImportType, scope: Scope): TypeNode {
    const declaration = this.#find(node, scope);
    if (!declaration) return this.#builtin(node, scope);
    switch (declaration.kind) {
      case "bound":
        return this.read(declaration.node, declaration.scope);
      case "key":
        return literal(declaration.name);
      case "parameter": {
        const { constraint } = declaration.node;
        if (!constraint) return UNKNOWN;
        return this.#named(
          `constraint ${place(constraint, declaration.scope)}`,
          declaration.node.name.name,
          () => this.read(constraint, declaration.scope),
        );
      }
      case "alias": {
        const { node: alias, scope: outer } = declaration;
        const doc = readDocComment(outer.module, alias.start);
        const inner = this.#instantiate(alias.typeParameters, outer, node, scope);
        return this.#named(this.#key(node, scope), alias.id.name, () =>
          describe(
            this.refine(this.read(alias.typeAnnotation, inner), doc.refinements, outer.module),
            alias.id.name,
            doc,
          ),
        );
      }
      case "interface":
        return this.#named(this.#key(node, scope), declaration.nodes[0]!.id.name, () =>
          shapes.readShape(this.#referenceShape(node, scope)!),
        );
      default:
        return this.fail(
          node,
          scope,
          `it is ${declaration.what}; a request carries plain data, so write an interface or a type`,
        );
    }
  }

  #referenceShape(node: TSTypeReference | TSImportType, scope: Scope): shapes.Shape | undefined {
    const declaration = this.#find(node, scope);
    if (!declaration) return this.#builtinShape(node, scope);
    switch (declaration.kind) {
      case "bound":
        return this.shape(declaration.node, declaration.scope);
      case "parameter":
        return declaration.node.constraint
          ? this.shape(declaration.node.constraint, declaration.scope)
          : undefined;
      case "alias": {
        const inner = this.#instantiate(declaration.node.typeParameters, declaration.scope, node, scope);
        return this.shape(declaration.node.typeAnnotation, inner);
      }
      case "interface": {
        const { nodes, scope: outer } = declaration;
        const own = nodes.flatMap((one) => this.#interfaceShapes(one, outer, node, scope));
        const { description } = readDocComment(outer.module, nodes[0]!.start);
        return { ...shapes.extend(own), name: nodes[0]!.id.name, ...(description && { description }) };
      }
      default:
        return undefined;
    }
  }

  #interfaceShapes(
    node: TSInterfaceDeclaration,
    outer: Scope,
    reference: TSTypeReference | TSImportType,
    scope: Scope,
  ): shapes.Shape[] {
    const inner = this.#instantiate(node.typeParameters, outer, reference, scope);
    const bases = node.extends.map((base) => {
      const type = {
        ...base,
        type: "TSTypeReference",
        typeName: base.expression,
      } as unknown as TSTypeReference;
      return this.shape(type, inner) ?? this.fail(base, inner, "it is no object type");
    });
    return [...bases, this.#members(node.body.body, inner)];
  }

  /** A scope in which the type parameters of a generic type have the types that a reference gives them. */
  #instantiate(
    parameters: TSTypeParameterDeclaration | null | undefined,
    outer: Scope,
    reference: TSTypeReference | TSImportType,
    scope: Scope,
  ): Scope {
    if (!parameters) return outer;
    const given: Arguments = reference.typeArguments?.params ?? [];
    const keys = given.map((argument) => this.#key(argument, scope));
    const inner = new Scope(outer.module, outer, `${outer.instance}<${keys.join(",")}>`);
    parameters.params.forEach((parameter, index) => {
      const argument = given[index];
      if (argument) inner.types.set(parameter.name.name, { kind: "bound", node: argument, scope });
      else if (parameter.default)
        inner.types.set(parameter.name.name, { kind: "bound", node: parameter.default, scope: inner });
      else this.fail(reference, scope, `it lacks a type for ${parameter.name.name}`);
    });
    return inner;
  }

  /** What tells one named type with its arguments from another. */
  #key(node: TSType, scope: Scope): string {
    if (node.type !== "TSTypeReference" && node.type !== "TSImportType") {
      return node.type.endsWith("Keyword") ? node.type : `${place(node, scope)}${scope.instance}`;
    }
    const declaration = this.#find(node, scope);
    if (declaration?.kind === "bound") return this.#key(declaration.node, declaration.scope);
    if (declaration?.kind === "key") return JSON.stringify(declaration.name);
    const given = (node.typeArguments?.params ?? []).map((argument) => this.#key(argument, scope)).join(",");
    const own =
      declaration?.kind === "alias" || declaration?.kind === "parameter"
        ? place(declaration.node, declaration.scope)
        : declaration?.kind === "interface"
          ? place(declaration.nodes[0]!, declaration.scope)
          : scope.module.source.slice(node.type === "TSTypeReference" ? node.typeName : node);
    return `${own}<${given}>`;
  }

  /** Reads a named type; one that is met again within itself becomes a definition. */
  #named(key: string, name: string, read: () => TypeNode): TypeNode {
    const known = this.#recursive.get(key);
    if (known !== undefined) return { kind: "reference", name: known };
    const open = this.#open.get(key);
    if (open) {
      open.name ??= this.#freeName(name);
      return { kind: "reference", name: open.name };
    }
    const entry: { name: string | undefined } = { name: undefined };
    this.#open.set(key, entry);
    let type: TypeNode;
    try {
      type = read();
    } finally {
      this.#open.delete(key);
    }
    if (entry.name === undefined) return type;
    this.definitions[entry.name] = type;
    this.#recursive.set(key, entry.name);
    return { kind: "reference", name: entry.name };
  }

  #freeName(name: string): string {
    const taken = new Set([
      ...Object.keys(this.definitions),
      ...[...this.#open.values()].map((entry) => entry.name),
    ]);
    let free = name;
    for (let count = 2; taken.has(free); count++) free = `${name}${count}`;
    return free;
  }

  #builtin(node: TSTypeReference | TSImportType, scope: Scope): TypeNode {
    if (node.type === "TSImportType") return this.fail(node, scope, "its module exports no such type");
    const name = namePath(node.typeName).join(".");
    const [first, second] = node.typeArguments?.params ?? [];
    const scalar = BUILTIN_SCALARS.get(name);
    if (scalar) return { kind: scalar };
    if ((name === "Array" || name === "ReadonlyArray") && first)
      return { kind: "array", items: this.read(first, scope) };
    if (name === "Readonly" && first && !this.shape(first, scope)) return this.read(first, scope);
    if (name === "NonNullable" && first) {
      return unionOf(
        membersOf(this.read(first, scope)).filter(({ kind }) => kind !== "null" && kind !== "undefined"),
      );
    }
    if ((name === "Exclude" || name === "Extract") && first && second) {
      const others = new Set(membersOf(this.read(second, scope)).map((member) => JSON.stringify(member)));
      const kept = membersOf(this.read(first, scope)).filter(
        (member) => others.has(JSON.stringify(member)) === (name === "Extract"),
      );
      return unionOf(kept);
    }
    if (BUILTIN_SHAPES.has(name)) {
      return this.#named(this.#key(node, scope), name, () => {
        const shape =
          this.#builtinShape(node, scope) ?? this.fail(node, scope, `${name} needs an object type`);
        return shapes.readShape(shape);
      });
    }
    const known = NO_DATA.get(name);
    return this.fail(node, scope, known ?? "no such type is declared here, imported, or built in");
  }

  #builtinShape(node: TSTypeReference | TSImportType, scope: Scope): shapes.Shape | undefined {
    if (node.type === "TSImportType") return undefined;
    const name = namePath(node.typeName).join(".");
    const [first, second] = node.typeArguments?.params ?? [];
    if (!first || !BUILTIN_SHAPES.has(name)) return undefined;
    if (name === "Record") {
      if (!second) return undefined;
      const keys = membersOf(this.read(first, scope));
      const value = this.#lazy(second, scope);
      const names = keys.map((key) => literalNames(key)).filter((own) => own !== undefined);
      const open = keys.some(({ kind }) => kind === "string" || kind === "number");
      if (names.length < keys.length && !open) return this.fail(first, scope, "a record's keys are texts");
      const properties = names
        .flat()
        .map((own) => [own, { optional: false, description: "", ...value }] as const);
      return { properties: new Map(properties), ...(open && { index: value }) };
    }
    const shape = this.#commonShape(first, scope);
    if (!shape) return undefined;
    if (name === "Readonly") return shape;
    if (name === "Partial") return shapes.withOptional(shape, true);
    if (name === "Required") return shapes.withOptional(shape, false);
    if (!second) return undefined;
    const names = literalNames(this.read(second, scope));
    if (!names) return this.fail(second, scope, "its names are not literals");
    return name === "Pick" ? shapes.pick(shape, names) : shapes.omit(shape, names);
  }
}

const BUILTIN_SCALARS: ReadonlyMap<string, "date" | "url" | "file" | "blob" | "bytes"> = new Map([
  ["Date", "date"],
  ["URL", "url"],
  ["File", "file"],
  ["Blob", "blob"],
  ["Uint8Array", "bytes"],
]);
const BUILTIN_SHAPES = new Set(["Record", "Partial", "Required", "Readonly", "Pick", "Omit"]);
const NO_DATA: ReadonlyMap<string, string> = new Map([
  ["Map", "no request carries a Map; Record<string, T> may do"],
  ["Set", "no request carries a Set; T[] may do"],
  ["Buffer", "write Uint8Array"],
  ["String", "write string"],
  ["Number", "write number"],
  ["Boolean", "write boolean"],
  ["BigInt", "write bigint"],
  ["Object", "write object or Record<string, unknown>"],
]);

const membersOf = (type: TypeNode): readonly TypeNode[] =>
  type.kind === "union" ? type.members : type.kind === "never" ? [] : [type];

const place = (node: Node, scope: Scope): string => `${scope.module.source.file}:${node.start}`;

const describe = (type: TypeNode, name: string, { description }: DocComment): TypeNode =>
  type.kind === "object" && !type.name ? { ...type, name, ...(description && { description }) } : type;

/** The names of `a.b.c`. */
const namePath = (node: TSTypeName | NonNullable<TSImportType["qualifier"]>): string[] => {
  if (node.type === "TSQualifiedName") return [...namePath(node.left), node.right.name];
  return node.type === "ThisExpression" ? ["this"] : [node.name];
};

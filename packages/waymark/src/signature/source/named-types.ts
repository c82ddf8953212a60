import type { Expression, TSInterfaceDeclaration, TSTypeName, TSTypeReference } from "oxc-parser";
import type { TypeNode } from "../model/signature.ts";
import { builtinShape, builtinType } from "./builtins.ts";
import { literal, UNKNOWN } from "./combine.ts";
import { type DocComment, readDocComment } from "./jsdoc.ts";
import { membersShape } from "./members.ts";
import {
  constraintOf,
  type Declared,
  findDeclaration,
  instantiate,
  keyOf,
  place,
  type TypeReference,
} from "./names.ts";
import type { Scope } from "./scope.ts";
import * as shapes from "./shapes.ts";
import type { TypeReader } from "./type-reader.ts";

/** A named type: declared, imported or built in. */
export function referenceType(reader: TypeReader, node: TypeReference, scope: Scope): TypeNode {
  const declaration = findDeclaration(reader, node, scope);
  if (!declaration) return builtinType(reader, node, scope);
  switch (declaration.kind) {
    case "bound":
      return reader.read(declaration.node, declaration.scope);
    case "key":
      return literal(declaration.name);
    case "parameter": {
      const constraint = constraintOf(reader, declaration, node, scope);
      if (!constraint) return UNKNOWN;
      const key = `constraint ${place(constraint, declaration.scope)}`;
      return reader.named({ key, name: declaration.node.name.name, node, scope }, () =>
        reader.read(constraint, declaration.scope),
      );
    }
    case "alias": {
      const { node: alias, scope: outer } = declaration;
      const doc = readDocComment(outer.module, alias.start);
      reader.visit(alias, outer);
      const inner = instantiate(reader, alias.typeParameters, outer, node, scope);
      return reader.named({ key: keyOf(reader, node, scope), name: alias.id.name, node, scope }, () =>
        describe(
          reader.refine(reader.read(alias.typeAnnotation, inner), doc.refinements, outer.module),
          alias.id.name,
          doc,
        ),
      );
    }
    case "interface": {
      const { name } = declaration.nodes[0]!.id;
      return reader.named({ key: keyOf(reader, node, scope), name, node, scope }, () =>
        readInterface(reader, declaration, node, scope),
      );
    }
    default:
      return reader.fail(
        node,
        scope,
        `it is ${declaration.what}; a request carries plain data, so write an interface or a type`,
      );
  }
}

/** The tags of an interface itself refine nothing, so they are an error. */
function readInterface(
  reader: TypeReader,
  { nodes, scope: outer }: Extract<Declared, { kind: "interface" }>,
  node: TypeReference,
  scope: Scope,
): TypeNode {
  const type = shapes.readShape(referenceShape(reader, node, scope)!);
  const tags = nodes.flatMap((one) => readDocComment(outer.module, one.start).refinements);
  return reader.refine(type, tags, outer.module);
}

/** The shape of a named type, for operators. */
export function referenceShape(
  reader: TypeReader,
  node: TypeReference,
  scope: Scope,
): shapes.Shape | undefined {
  const declaration = findDeclaration(reader, node, scope);
  if (!declaration) return builtinShape(reader, node, scope);
  switch (declaration.kind) {
    case "bound":
      return reader.shape(declaration.node, declaration.scope);
    case "parameter": {
      const constraint = constraintOf(reader, declaration, node, scope);
      return constraint && reader.shape(constraint, declaration.scope);
    }
    case "alias": {
      const inner = instantiate(reader, declaration.node.typeParameters, declaration.scope, node, scope);
      return reader.shape(declaration.node.typeAnnotation, inner);
    }
    case "interface": {
      const { nodes, scope: outer } = declaration;
      checkComplete(reader, declaration, node, scope);
      const own = nodes.flatMap((one) => interfaceShapes(reader, one, outer, node, scope));
      const { description } = readDocComment(outer.module, nodes[0]!.start);
      return { ...shapes.extend(own), name: nodes[0]!.id.name, ...(description && { description }) };
    }
    default:
      return undefined;
  }
}

/** Fails for an interface to which a module adds members that its own declarations do not show. */
function checkComplete(
  reader: TypeReader,
  { nodes, scope: outer }: Extract<Declared, { kind: "interface" }>,
  node: TypeReference,
  scope: Scope,
): void {
  if (reader.modules.augmentations.has(nodes[0]!.id.name))
    reader.fail(node, scope, "another module adds members to it (`declare module`)");
  if (/[\\/]node_modules[\\/]/.test(outer.module.source.file))
    reader.fail(node, scope, "it is an interface of a package, to which other packages may add members");
}

function interfaceShapes(
  reader: TypeReader,
  node: TSInterfaceDeclaration,
  outer: Scope,
  reference: TypeReference,
  scope: Scope,
): shapes.Shape[] {
  const inner = instantiate(reader, node.typeParameters, outer, reference, scope);
  reader.visit(node, outer);
  const bases = node.extends.map(({ expression, typeArguments, start, end }) => {
    const typeName = typeNameOf(expression);
    if (!typeName) return reader.fail(expression, inner, "it is not a name");
    const type: TSTypeReference = { type: "TSTypeReference", typeName, typeArguments, start, end };
    return reader.shape(type, inner) ?? reader.fail(type, inner, "it is not an object type");
  });
  return [...bases, membersShape(reader, node.body.body, inner)];
}

/** The grammar allows expressions after `extends`. Only dotted names can be types. */
function typeNameOf(node: Expression): TSTypeName | undefined {
  if (node.type === "Identifier") return node;
  if (node.type !== "MemberExpression" || node.computed || node.property.type !== "Identifier")
    return undefined;
  const left = typeNameOf(node.object as Expression);
  const { start, end, property: right } = node;
  return left && { type: "TSQualifiedName", left, right, start, end };
}

function describe(type: TypeNode, name: string, { description }: DocComment): TypeNode {
  return type.kind === "object" && !type.name ? { ...type, name, ...(description && { description }) } : type;
}

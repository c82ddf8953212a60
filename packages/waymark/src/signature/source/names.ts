import type {
  Node,
  TSImportType,
  TSType,
  TSTypeName,
  TSTypeParameterDeclaration,
  TSTypeReference,
} from "oxc-parser";
import { Scope, type TypeDeclaration } from "./scope.ts";
import type { TypeReader } from "./type-reader.ts";

/** A reference to a type by its name, possibly of another module. */
export type TypeReference = TSTypeReference | TSImportType;

export type Declared = Exclude<TypeDeclaration, { kind: "import" }>;

/** The declaration of a name. Undefined for an undeclared name. */
export function findDeclaration(
  reader: TypeReader,
  node: TSTypeReference | TSImportType,
  scope: Scope,
): Declared | undefined {
  const found =
    node.type === "TSImportType"
      ? reader.modules.findImportedType(
          node.source.value,
          node.qualifier ? namePath(node.qualifier) : [],
          scope,
          node.start,
        )
      : reader.modules.findType(namePath(node.typeName), scope);
  if (found?.kind === "module") return reader.fail(node, scope, "it is a module, not a type");
  return found?.declaration;
}

/**
 * The constraint of one of the method's own type parameters, if it has one. Any other type parameter belongs to a
 * class or function around the method, and each derived class gives it another argument.
 *
 * @throws SignatureError for a type parameter that is not the method's own
 */
export function constraintOf(
  reader: TypeReader,
  declaration: Extract<Declared, { kind: "parameter" }>,
  node: TSType,
  scope: Scope,
): TSType | undefined {
  if (declaration.scope !== reader.methodScope) {
    return reader.fail(
      node,
      scope,
      "it is a type parameter of a class or function around the method, and the source does not show its argument (`class Books extends Crud<Book>`). Write the method in the derived class with its own type, for instance `PUT(it: Book) { return super.PUT(it); }`",
    );
  }
  return declaration.node.constraint ?? undefined;
}

/** A scope that binds the type parameters of a generic type to the arguments of a reference. */
export function instantiate(
  reader: TypeReader,
  parameters: TSTypeParameterDeclaration | null | undefined,
  outer: Scope,
  reference: TSTypeReference | TSImportType,
  scope: Scope,
): Scope {
  if (!parameters) return outer;
  const given: readonly TSType[] = reference.typeArguments?.params ?? [];
  const keys = given.map((argument) => keyOf(reader, argument, scope));
  const inner = new Scope(outer.module, outer, `${outer.instance}<${keys.join(",")}>`);
  parameters.params.forEach((parameter, index) => {
    const argument = given[index];
    if (argument) inner.types.set(parameter.name.name, { kind: "bound", node: argument, scope });
    else if (parameter.default)
      inner.types.set(parameter.name.name, { kind: "bound", node: parameter.default, scope: inner });
    else reader.fail(reference, scope, `it lacks a type for ${parameter.name.name}`);
  });
  return inner;
}

/** Identifies a named type with its arguments. */
export function keyOf(reader: TypeReader, node: TSType, scope: Scope): string {
  if (node.type !== "TSTypeReference" && node.type !== "TSImportType") {
    return node.type.endsWith("Keyword") ? node.type : `${place(node, scope)}${scope.instance}`;
  }
  const declaration = findDeclaration(reader, node, scope);
  if (declaration?.kind === "bound") return keyOf(reader, declaration.node, declaration.scope);
  if (declaration?.kind === "key") return JSON.stringify(declaration.name);
  const given = (node.typeArguments?.params ?? [])
    .map((argument) => keyOf(reader, argument, scope))
    .join(",");
  const own =
    declaration?.kind === "alias" || declaration?.kind === "parameter"
      ? place(declaration.node, declaration.scope)
      : declaration?.kind === "interface"
        ? place(declaration.nodes[0]!, declaration.scope)
        : scope.module.source.slice(node.type === "TSTypeReference" ? node.typeName : node);
  return `${own}<${given}>`;
}

/** Identifies a node across all files. */
export const place = (node: Node, scope: Scope): string => `${scope.module.source.file}:${node.start}`;

/** The names of `a.b.c`. */
export function namePath(node: TSTypeName | NonNullable<TSImportType["qualifier"]>): string[] {
  if (node.type === "TSQualifiedName") return [...namePath(node.left), node.right.name];
  return node.type === "ThisExpression" ? ["this"] : [node.name];
}

import type { TypeNode } from "../model/signature.ts";
import { isTemporal } from "../model/temporal.ts";
import { literalKind, literalNames, unionOf } from "./combine.ts";
import { documentedType } from "./documented-type.ts";
import { readLater } from "./members.ts";
import { keyOf, namePath, type TypeReference } from "./names.ts";
import type { Scope } from "./scope.ts";
import * as shapes from "./shapes.ts";
import type { TypeReader } from "./type-reader.ts";

const BUILTIN_SCALARS: ReadonlyMap<string, "date" | "url" | "file" | "blob" | "bytes"> = new Map([
  ["Date", "date"],
  ["URL", "url"],
  ["File", "file"],
  ["Blob", "blob"],
  ["Uint8Array", "bytes"],
]);
const BUILTIN_SHAPES = new Set(["Record", "Partial", "Required", "Readonly", "Pick", "Omit"]);
const NO_DATA: ReadonlyMap<string, string> = new Map([
  ["Map", "a request cannot carry a Map; use Record<string, T>"],
  ["Set", "a request cannot carry a Set; use T[]"],
  ["Buffer", "write Uint8Array"],
  ["String", "write string"],
  ["Number", "write number"],
  ["Boolean", "write boolean"],
  ["BigInt", "write bigint"],
  ["Object", "write object or Record<string, unknown>"],
]);

/** A type of TypeScript's own library, if a request can carry it. */
export function builtinType(reader: TypeReader, node: TypeReference, scope: Scope): TypeNode {
  if (node.type === "TSImportType") return reader.fail(node, scope, "its module exports no such type");
  const name = namePath(node.typeName).join(".");
  const [first, second] = node.typeArguments?.params ?? [];
  const scalar = BUILTIN_SCALARS.get(name);
  if (scalar) return { kind: scalar };
  const temporal = name.startsWith("Temporal.") ? name.slice("Temporal.".length) : "";
  if (isTemporal(temporal)) return { kind: "temporal", type: temporal };
  if ((name === "Array" || name === "ReadonlyArray") && first)
    return { kind: "array", items: documentedType(reader, first, scope) };
  if (name === "Readonly" && first && !reader.shape(first, scope)) {
    const type = reader.read(first, scope);
    return membersOf(type).every(({ kind }) => SIMPLE.has(kind) || kind === "array" || kind === "tuple")
      ? type
      : reader.fail(node, scope);
  }
  if (name === "NonNullable" && first) {
    const members = membersOf(reader.read(first, scope));
    if (members.some(({ kind }) => kind === "unknown" || kind === "reference"))
      return reader.fail(node, scope);
    return unionOf(members.filter(({ kind }) => kind !== "null" && kind !== "undefined"));
  }
  if ((name === "Exclude" || name === "Extract") && first && second) {
    const others = simpleMembers(reader.read(second, scope));
    const own = simpleMembers(reader.read(first, scope));
    if (!own || !others) return reader.fail(node, scope, "its members are not literals and primitive types");
    const kept = own.filter(
      (member) => others.some((other) => isAssignable(member, other)) === (name === "Extract"),
    );
    return unionOf(kept);
  }
  if (BUILTIN_SHAPES.has(name)) {
    return reader.named({ key: keyOf(reader, node, scope), name, node, scope }, () => {
      const shape =
        builtinShape(reader, node, scope) ?? reader.fail(node, scope, `${name} needs an object type`);
      return shapes.readShape(shape);
    });
  }
  const known = NO_DATA.get(name);
  return reader.fail(node, scope, known ?? "the type is neither declared, imported nor built in");
}

/** The shape of such a type, for operators. */
export function builtinShape(
  reader: TypeReader,
  node: TypeReference,
  scope: Scope,
): shapes.Shape | undefined {
  if (node.type === "TSImportType") return undefined;
  const name = namePath(node.typeName).join(".");
  const [first, second] = node.typeArguments?.params ?? [];
  if (!first || !BUILTIN_SHAPES.has(name)) return undefined;
  if (name === "Record") {
    if (!second) return undefined;
    const keys = reader.read(first, scope);
    const value = readLater(reader, second, scope);
    if (keys.kind === "string" && !keys.refinements) return { properties: new Map(), index: value };
    const names = literalNames(keys);
    if (!names) return reader.fail(first, scope, "a record's keys must be strings");
    const properties = names.map((own) => [own, { optional: false, documentation: {}, ...value }] as const);
    return { properties: new Map(properties) };
  }
  const shape = reader.shape(first, scope);
  if (!shape) return undefined;
  if (name === "Readonly") return shape;
  if (name === "Partial") return shapes.asOptional(shape);
  if (name === "Required") return shapes.asRequired(shape, () => reader.fail(node, scope));
  if (!second) return undefined;
  const names = literalNames(reader.read(second, scope));
  if (!names) return reader.fail(second, scope, "its names are not literals");
  // With an index signature, both drop the declared names.
  if (shape.index) return reader.fail(node, scope);
  return name === "Pick" ? shapes.pick(shape, names) : shapes.omit(shape, names);
}

function membersOf(type: TypeNode): readonly TypeNode[] {
  return type.kind === "union" ? type.members : type.kind === "never" ? [] : [type];
}

/** Kinds whose assignability is decided by kind and value alone. */
const SIMPLE = new Set(["string", "number", "bigint", "boolean", "null", "undefined", "literal"]);

/** The members of a union of such kinds, with `boolean` as its two literals, as in TypeScript. */
function simpleMembers(type: TypeNode): readonly TypeNode[] | undefined {
  const members = membersOf(type).flatMap((member): TypeNode[] =>
    member.kind === "boolean"
      ? [true, false].map((value) => ({ kind: "literal", value }) as const)
      : [member],
  );
  const isSimple = (member: TypeNode) => SIMPLE.has(member.kind) && !("isTemplate" in member);
  return members.every(isSimple) ? members : undefined;
}

function isAssignable(one: TypeNode, other: TypeNode): boolean {
  if (other.kind === "literal") return JSON.stringify(one) === JSON.stringify(other);
  return (one.kind === "literal" ? literalKind(one) : one.kind) === other.kind;
}

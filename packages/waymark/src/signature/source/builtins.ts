import type { TypeNode } from "../model/signature.ts";
import { literalNames, unionOf } from "./combine.ts";
import { readLater } from "./members.ts";
import { keyOf, namePath, type TypeReference } from "./names.ts";
import { commonShape } from "./operators.ts";
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
  if ((name === "Array" || name === "ReadonlyArray") && first)
    return { kind: "array", items: reader.read(first, scope) };
  if (name === "Readonly" && first && !reader.shape(first, scope)) return reader.read(first, scope);
  if (name === "NonNullable" && first) {
    return unionOf(
      membersOf(reader.read(first, scope)).filter(({ kind }) => kind !== "null" && kind !== "undefined"),
    );
  }
  if ((name === "Exclude" || name === "Extract") && first && second) {
    const others = new Set(membersOf(reader.read(second, scope)).map((member) => JSON.stringify(member)));
    const kept = membersOf(reader.read(first, scope)).filter(
      (member) => others.has(JSON.stringify(member)) === (name === "Extract"),
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
    const keys = membersOf(reader.read(first, scope));
    const value = readLater(reader, second, scope);
    const names = keys.map((key) => literalNames(key)).filter((own) => own !== undefined);
    const open = keys.some(({ kind }) => kind === "string" || kind === "number");
    if (names.length < keys.length && !open)
      return reader.fail(first, scope, "a record's keys must be strings");
    const properties = names
      .flat()
      .map((own) => [own, { optional: false, description: "", ...value }] as const);
    return { properties: new Map(properties), ...(open && { index: value }) };
  }
  const shape = commonShape(reader, first, scope);
  if (!shape) return undefined;
  if (name === "Readonly") return shape;
  if (name === "Partial") return shapes.withOptional(shape, true);
  if (name === "Required") return shapes.withOptional(shape, false);
  if (!second) return undefined;
  const names = literalNames(reader.read(second, scope));
  if (!names) return reader.fail(second, scope, "its names are not literals");
  return name === "Pick" ? shapes.pick(shape, names) : shapes.omit(shape, names);
}

function membersOf(type: TypeNode): readonly TypeNode[] {
  return type.kind === "union" ? type.members : type.kind === "never" ? [] : [type];
}

import type { TSType, TSTypeReference } from "oxc-parser";
import type { TypeNode } from "../model/signature.ts";
import { SignatureError } from "../model/signature-error.ts";
import { UNKNOWN, unionOf } from "./combine.ts";
import { findDeclaration, instantiate } from "./names.ts";
import type { Scope } from "./scope.ts";
import type { TypeReader } from "./type-reader.ts";

const PROMISES = new Set(["Promise", "PromiseLike", "Awaited"]);
const STREAMS = new Set([
  "AsyncGenerator",
  "AsyncIterable",
  "AsyncIterableIterator",
  "AsyncIteratorObject",
  "Generator",
  "Iterable",
  "IterableIterator",
  "IteratorObject",
  "ReadableStream",
]);

/**
 * The declared return type of a method. It is only documented, so an unreadable part is not an error and remains as
 * text.
 */
export function readReturnType(reader: TypeReader, node: TSType, scope: Scope): TypeNode {
  if (node.type === "TSUnionType") {
    return unionOf(node.types.map((member) => readReturnType(reader, member, scope)));
  }
  const name = builtinName(node, scope);
  const [first] = node.type === "TSTypeReference" ? (node.typeArguments?.params ?? []) : [];
  if (name && PROMISES.has(name) && first) return readReturnType(reader, first, scope);
  if (name && STREAMS.has(name)) {
    return { kind: "stream", items: first ? readReturnType(reader, first, scope) : UNKNOWN };
  }
  if (name === "Response") return { kind: "response" };
  if (name === "Buffer" || name === "ArrayBuffer") return { kind: "bytes" };
  try {
    return reader.read(node, scope);
  } catch (error) {
    if (!(error instanceof SignatureError)) throw error;
    return readAlias(reader, node, scope) ?? { kind: "unreadable", text: scope.module.source.slice(node) };
  }
}

/** An alias may contain types that only a method returns: `type Result = Promise<Book | Response>`. */
function readAlias(reader: TypeReader, node: TSType, scope: Scope): TypeNode | undefined {
  if (node.type !== "TSTypeReference") return undefined;
  try {
    const found = findDeclaration(reader, node, scope);
    if (found?.kind !== "alias") return undefined;
    const inner = instantiate(reader, found.node.typeParameters, found.scope, node, scope);
    return reader.bounded(node, scope, () => readReturnType(reader, found.node.typeAnnotation, inner));
  } catch (error) {
    if (error instanceof SignatureError) return undefined;
    throw error;
  }
}

/** A name that the module does not declare. */
function builtinName(node: TSType, scope: Scope): string | undefined {
  const name = (node as Partial<TSTypeReference>).typeName;
  return name?.type === "Identifier" && !scope.findType(name.name) ? name.name : undefined;
}

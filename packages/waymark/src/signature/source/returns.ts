import type { TSType, TSTypeReference } from "oxc-parser";
import { SignatureError } from "../errors.ts";
import type { TypeNode } from "../model.ts";
import { UNKNOWN, unionOf } from "./combine.ts";
import type { Scope } from "./scope.ts";

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
 * The type of what a method returns, as written. It only documents, so what cannot be read is
 * no error: it is kept as text.
 */
export const readReturnType = (node: TSType, read: (node: TSType) => TypeNode, scope: Scope): TypeNode => {
  if (node.type === "TSUnionType") {
    return unionOf(node.types.map((member) => readReturnType(member, read, scope)));
  }
  const name = builtinName(node, scope);
  const [first] = node.type === "TSTypeReference" ? (node.typeArguments?.params ?? []) : [];
  if (name && PROMISES.has(name) && first) return readReturnType(first, read, scope);
  if (name && STREAMS.has(name))
    return { kind: "stream", items: first ? readReturnType(first, read, scope) : UNKNOWN };
  if (name === "Response") return { kind: "response" };
  if (name === "Buffer" || name === "ArrayBuffer") return { kind: "bytes" };
  try {
    return read(node);
  } catch (error) {
    if (error instanceof SignatureError) return { kind: "unreadable", text: scope.module.source.slice(node) };
    throw error;
  }
};

/** A name that the module does not declare itself. */
const builtinName = (node: TSType, scope: Scope): string | undefined => {
  const name = (node as Partial<TSTypeReference>).typeName;
  return name?.type === "Identifier" && !scope.findType(name.name) ? name.name : undefined;
};

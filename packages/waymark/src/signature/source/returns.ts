import type { TSType, TSTypeReference } from "oxc-parser";
import type { TypeNode } from "../model/signature.ts";
import { SignatureError } from "../model/signature-error.ts";
import { UNKNOWN, unionOf } from "./combine.ts";
import { findDeclaration, instantiate, namePath } from "./names.ts";
import type { Scope } from "./scope.ts";
import type { TypeReader } from "./type-reader.ts";

export const PROMISES = new Set(["Promise", "PromiseLike", "Awaited"]);
export const STREAMS = new Set([
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

/** The errors of JavaScript. */
export const ERROR_NAME = /^(?:[A-Z][a-z]+)?Error$/;

/** Modules of Node whose exported types are streams of bytes. */
const STREAM_MODULES = /^(?:node:)?(?:stream|fs|http|https|zlib|crypto|net)(?:\/.*)?$/;

/** The declared return type of a method. A part that cannot be read remains as text, and its error is collected. */
export function readReturnType(
  reader: TypeReader,
  node: TSType,
  scope: Scope,
  errors: SignatureError[],
  following: ReadonlySet<object> = new Set(),
): TypeNode {
  const inner = (part: TSType) => readReturnType(reader, part, scope, errors, following);
  if (node.type === "TSUnionType") return unionOf(node.types.map(inner));
  if (node.type === "TSParenthesizedType") return inner(node.typeAnnotation);
  if (node.type === "TSArrayType") return { kind: "array", items: inner(node.elementType) };
  const name = builtinName(node, scope);
  const [first] = node.type === "TSTypeReference" ? (node.typeArguments?.params ?? []) : [];
  if (name && PROMISES.has(name) && first) return inner(first);
  if (name && STREAMS.has(name)) return { kind: "stream", items: first ? inner(first) : UNKNOWN };
  if (name === "Response") return { kind: "response" };
  if (name && ERROR_NAME.test(name)) return { kind: "problem" };
  if (name === "Buffer" || name === "ArrayBuffer") return { kind: "bytes" };
  const data = eventData(node, scope);
  if (data !== undefined) return data === null ? UNKNOWN : inner(data);
  const own = returnedType(reader, node, scope) ?? readAlias(reader, node, scope, errors, following);
  if (own) return own;
  try {
    return reader.read(node, scope);
  } catch (error) {
    if (!(error instanceof SignatureError)) throw error;
    errors.push(error);
    return { kind: "unreadable", text: scope.module.source.slice(node) };
  }
}

/** A type that only a return type can have: a stream of Node, a problem, an error, a method's type parameter. */
function returnedType(reader: TypeReader, node: TSType, scope: Scope): TypeNode | undefined {
  if (node.type !== "TSTypeReference") return undefined;
  const [first] = namePath(node.typeName);
  const named = scope.findType(first!);
  if (named?.kind === "import" && STREAM_MODULES.test(named.specifier))
    return { kind: "stream", items: { kind: "bytes" } };
  if (named?.kind === "import" && named.name === "HttpError") return { kind: "problem" };
  const found = declarationOf(reader, node, scope);
  // Any value that its caller chose.
  if (found?.kind === "parameter" && found.scope === reader.methodScope) return UNKNOWN;
  const imported = named?.kind === "import" && named.specifier === PACKAGE ? named.name : undefined;
  const isDeclared =
    found?.kind === "interface" &&
    found.nodes[0]?.id.name === "Problem" &&
    OWN_TYPES.test(found.scope.module.source.file);
  return imported === "Problem" || isDeclared ? problemType(reader, node, scope) : undefined;
}

/** The type of an event's data. Null if it is not given, undefined for any other type. */
function eventData(node: TSType, scope: Scope): TSType | null | undefined {
  if (node.type !== "TSTypeReference") return undefined;
  const named = scope.findType(namePath(node.typeName)[0]!);
  if (named?.kind !== "import" || named.name !== "ServerSentEvent") return undefined;
  if (named.specifier !== PACKAGE) return undefined;
  return node.typeArguments?.params[0] ?? null;
}

function problemType(reader: TypeReader, node: TSTypeReference, scope: Scope): TypeNode {
  const [status, members] = node.typeArguments?.params ?? [];
  return problemOf(status && reader.read(status, scope), () => members && reader.read(members, scope));
}

/** `Problem` with the types of its arguments. */
export function problemOf(status: TypeNode | undefined, members: () => TypeNode | undefined): TypeNode {
  const statuses = status === undefined ? [] : membersOf(status);
  const known = statuses.flatMap((each) =>
    each.kind === "literal" && typeof each.value === "number" ? [each.value] : [],
  );
  if (known.length === 0 || known.length < statuses.length) return { kind: "problem" };
  const inner = members();
  return unionOf(known.map((each) => ({ kind: "problem", status: each, ...(inner && { members: inner }) })));
}

const PACKAGE = "@tollway/waymark";
/** The files of this package that declare `Problem` and `ServerSentEvent`. */
export const OWN_TYPES = /[\\/]http[\\/](?:http-error|server-sent-event)\.(?:d\.)?ts$/;

const membersOf = (type: TypeNode): readonly TypeNode[] => (type.kind === "union" ? type.members : [type]);

/** Undefined for a name whose declaration cannot be found: the reader reports it. */
function declarationOf(reader: TypeReader, node: TSTypeReference, scope: Scope) {
  try {
    return findDeclaration(reader, node, scope);
  } catch (error) {
    if (error instanceof SignatureError) return undefined;
    throw error;
  }
}

/** Syntax that can contain types which only a method returns. */
const FOLLOWED = new Set(["TSUnionType", "TSTypeReference", "TSParenthesizedType", "TSArrayType"]);

/** An alias may contain types that only a method returns: `type Result = Promise<Book | Problem<404>>`. */
function readAlias(
  reader: TypeReader,
  node: TSType,
  scope: Scope,
  errors: SignatureError[],
  following: ReadonlySet<object>,
): TypeNode | undefined {
  const found = node.type === "TSTypeReference" ? declarationOf(reader, node, scope) : undefined;
  // An alias that contains itself is read as a definition.
  if (found?.kind !== "alias" || following.has(found.node)) return undefined;
  const { typeParameters, typeAnnotation } = found.node;
  if (!FOLLOWED.has(typeAnnotation.type)) return undefined;
  const inner = instantiate(reader, typeParameters, found.scope, node as TSTypeReference, scope);
  const further = new Set([...following, found.node]);
  return reader.bounded(node, scope, () => readReturnType(reader, typeAnnotation, inner, errors, further));
}

/** A name that the module does not declare. */
function builtinName(node: TSType, scope: Scope): string | undefined {
  const name = (node as Partial<TSTypeReference>).typeName;
  return name?.type === "Identifier" && !scope.findType(name.name) ? name.name : undefined;
}

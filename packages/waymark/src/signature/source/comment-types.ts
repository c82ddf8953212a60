import { parseSync, type TSType } from "oxc-parser";
import type { TypeNode } from "../model/signature.ts";
import { SignatureError, WAYS_OUT } from "../model/signature-error.ts";
import { type Formal, type ParameterContext, readAnnotation } from "./annotations.ts";
import { membersType } from "./jsdoc-members.ts";
import { type CommentType, commentTypes } from "./jsdoc-types.ts";

/**
 * The type of a parameter in plain JavaScript, from `@param {T} name` or an inline `@type {T}`. Undefined without one,
 * and in TypeScript, which ignores them.
 */
export function commentType(
  formal: Formal,
  name: string | undefined,
  context: ParameterContext,
): TypeNode | undefined {
  const { scope, doc, types, onUnreadable } = context;
  if (scope.module.typed) return undefined;
  const { inline, byName, inOrder } = commentTypes(scope.module, formal.start, doc);
  const written = inline ?? (name === undefined ? inOrder[formal.index] : byName.get(name));
  if (!written) return undefined;
  const own = name ?? "keywords";
  const parse = (type: CommentType) => parseType(type, scope.module.source.file);
  const members = membersType(written, byName, parse);
  const annotation = members === "none" ? parse(written) : members;
  if (annotation) {
    const type = readAnnotation(annotation, { own, index: formal.index }, context);
    return written.optional && type.kind !== "unreadable" ? optionalType(type) : type;
  }
  const error = new SignatureError(
    "UNREADABLE_TYPE",
    `cannot read the type \`${written.text}\`: it is not the syntax of TypeScript. ${WAYS_OUT}`,
    scope.module.source.location(written.start),
  );
  const node = { ...formal.pattern, start: formal.start };
  try {
    return types.askParameter({ node, scope, index: formal.index }, error);
  } catch (reason) {
    if (!(reason instanceof SignatureError) || reason.code !== "UNREADABLE_TYPE") throw reason;
    return onUnreadable(reason, [[own]], written.text);
  }
}

const optionalType = (type: TypeNode): TypeNode => ({
  kind: "union",
  members: [type, { kind: "undefined" }],
});

const HEAD = "type T=";

/** The syntax of a type, with the offsets that it has in the file. Undefined for syntax of JSDoc alone. */
function parseType({ text, start }: CommentType, file: string): TSType | undefined {
  if (start < HEAD.length) return undefined;
  const { program, errors } = parseSync(`${file}.ts`, `${" ".repeat(start - HEAD.length)}${HEAD}${text}`);
  const [statement] = program.body;
  const isType =
    errors.length === 0 && program.body.length === 1 && statement?.type === "TSTypeAliasDeclaration";
  return isType && !/\*|\?(?!\s*:)|Object\b/.test(text) ? statement.typeAnnotation : undefined;
}

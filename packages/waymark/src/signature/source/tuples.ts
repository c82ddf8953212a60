import type { TSTupleElement, TSType } from "oxc-parser";
import type { TupleItem, TypeNode } from "../model/signature.ts";
import { literal, literalNames, splitUndefined, unionOf } from "./combine.ts";
import { readDocComment } from "./jsdoc.ts";
import type { Scope } from "./scope.ts";
import type { TypeReader } from "./type-reader.ts";

/** Real template types have fewer texts. */
const MAXIMUM_TEXTS = 1_000;

/** A template literal type, as the union of all its texts. */
export function templateType(
  reader: TypeReader,
  node: Extract<TSType, { type: "TSTemplateLiteralType" }>,
  scope: Scope,
): TypeNode {
  let texts = [node.quasis[0]!.value.cooked ?? ""];
  for (const [index, part] of node.types.entries()) {
    const names = literalNames(reader.read(part, scope));
    if (!names)
      return reader.fail(node, scope, "its parts are not literals (use a JSDoc `@pattern` on string)");
    const tail = node.quasis[index + 1]!.value.cooked ?? "";
    texts = texts.flatMap((text) => names.map((name) => text + name + tail));
    if (texts.length > MAXIMUM_TEXTS) return reader.fail(node, scope, "it has too many texts");
  }
  return unionOf(texts.map((text) => literal(text)));
}

/** A tuple without the names of its items. */
export function tupleType(reader: TypeReader, elements: readonly TSTupleElement[], scope: Scope): TypeNode {
  const items: TupleItem[] = [];
  let rest: TypeNode | undefined;
  for (const [position, element] of elements.entries()) {
    const named = element.type === "TSNamedTupleMember";
    const own: TSTupleElement = named ? element.elementType : element;
    const doc = readDocComment(scope.module, element.start);
    const read = (node: TSType) => reader.refine(reader.read(node, scope), doc.refinements, scope.module);
    if (own.type === "TSRestType") {
      const inner = own.typeAnnotation;
      const type = read(inner.type === "TSNamedTupleMember" ? (inner.elementType as TSType) : inner);
      if (rest || (type.kind !== "array" && type.kind !== "tuple")) return reader.fail(element, scope);
      if (type.kind === "array" && type.refinements)
        return reader.fail(element, scope, "the rest of a tuple has no length of its own");
      if (type.kind === "array") rest = type.items;
      else {
        const isFixed = !type.rest && type.items.every((item) => !item.optional);
        if (!isFixed && position < elements.length - 1) return reader.fail(element, scope);
        items.push(...type.items);
        ({ rest } = type);
      }
    } else if (rest) {
      return reader.fail(element, scope, "a tuple's rest element must be last");
    } else if (own.type === "TSOptionalType") {
      items.push({ type: splitUndefined(read(own.typeAnnotation)).type, optional: true });
    } else {
      const optional = named && element.optional;
      const type = read(own);
      items.push({ type: optional ? splitUndefined(type).type : type, optional });
    }
  }
  return { kind: "tuple", items, ...(rest && { rest }) };
}

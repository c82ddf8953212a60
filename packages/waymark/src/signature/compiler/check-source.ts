import { type Node, type TSImportType, type TSTypeReference, visitorKeys } from "oxc-parser";
import { SignatureError } from "../model/signature-error.ts";
import type { Asked } from "../source/asked.ts";
import { readDocComment } from "../source/jsdoc.ts";
import { findDeclaration } from "../source/names.ts";
import type { Scope } from "../source/scope.ts";
import type { TypeReader } from "../source/type-reader.ts";
import type { CompilerError, NodePlace, TypeProgram } from "./type-view.ts";

/**
 * Checks the source of a type that the compiler has read. The compiler knows nothing of JSDoc tags on an alias of a
 * primitive type, and replaces a name that it cannot find by `any`. Both would accept more than the author meant.
 *
 * @throws SignatureError for a tag or a name that is lost
 */
export function checkSource(
  asked: Asked,
  declaredIn: ReadonlySet<string>,
  reader: TypeReader,
  program: TypeProgram,
): void {
  const visited = new Set<Node>();
  const spans: NodePlace[] = [];
  const visit = (node: Node, scope: Scope): void => {
    if (visited.has(node)) return;
    visited.add(node);
    spans.push({ file: scope.module.source.file, start: node.start, end: node.end });
    if (node.type === "TSPropertySignature" || node.type === "PropertyDefinition") {
      // The compiler's type has the property, with its comment.
      readDocComment(scope.module, node.start);
    }
    if (node.type === "TSTypeReference" || node.type === "TSImportType") follow(node, scope);
    for (const key of visitorKeys[node.type] ?? []) {
      const child = (node as unknown as Record<string, Node | null | (Node | null)[]>)[key];
      for (const one of Array.isArray(child) ? child : [child]) if (one) visit(one, scope);
    }
  };
  const follow = (node: TSTypeReference | TSImportType, scope: Scope): void => {
    const declaration = declarationOf(reader, node, scope);
    if (declaration?.kind === "alias") {
      const { module } = declaration.scope;
      const [tag] = readDocComment(module, declaration.node.start).refinements;
      if (tag) {
        throw new SignatureError(
          "INVALID_REFINEMENT",
          `the tag @${tag.name ?? tag.key} of the type ${declaration.node.id.name} would be lost here, because the compiler does not know it. Write the tag on the property that has this type`,
          scope.module.source.location(node.start),
        );
      }
      reader.visit(declaration.node, declaration.scope);
      visit(declaration.node.typeAnnotation, declaration.scope);
    } else if (declaration?.kind === "interface") {
      for (const one of declaration.nodes) {
        reader.visit(one, declaration.scope);
        visit(one, declaration.scope);
      }
    } else if (declaration?.kind === "bound") {
      visit(declaration.node, declaration.scope);
    }
  };
  visit(asked.node, asked.scope);
  const isVisited = ({ offset, isImport }: CompilerError, file: string): boolean =>
    isImport || spans.some((span) => span.file === file && span.start <= offset && offset < span.end);
  for (const file of new Set([...declaredIn, ...spans.map((span) => span.file)])) {
    const error = program.errorsOf(file).find((one) => isVisited(one, file));
    if (!error) continue;
    const { line, column } = reader.modules.read(file).source.location(error.offset);
    throw new SignatureError(
      "UNREADABLE_TYPE",
      `TypeScript reports an error that affects the type: ${file}:${line}:${column}: ${error.text} Run \`npx tsc --noEmit\``,
      asked.scope.module.source.location(asked.node.start),
    );
  }
}

function declarationOf(
  reader: TypeReader,
  node: TSTypeReference | TSImportType,
  scope: Scope,
): ReturnType<typeof findDeclaration> {
  try {
    return findDeclaration(reader, node, scope);
  } catch (error) {
    // A module that only the compiler finds has no tags that Waymark reads.
    if (error instanceof SignatureError) return undefined;
    throw error;
  }
}

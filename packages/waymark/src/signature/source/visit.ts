import { type Node, visitorKeys } from "oxc-parser";

/** Nodes that have a `this` of their own. */
const OTHERS = new Set(["FunctionDeclaration", "FunctionExpression", "ClassDeclaration", "ClassExpression"]);

/** Calls `look` for a node and all nodes inside it, except those with another `this`. */
export function visit(node: Node, look: (node: Node) => void): void {
  if (OTHERS.has(node.type)) return;
  look(node);
  for (const key of visitorKeys[node.type] ?? []) {
    const child = (node as unknown as Record<string, Node | null | (Node | null)[]>)[key];
    for (const one of Array.isArray(child) ? child : [child]) if (one) visit(one, look);
  }
}

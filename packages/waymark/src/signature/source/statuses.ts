import type { ArrowFunctionExpression, Function as FunctionNode, Node } from "oxc-parser";
import type { MethodSignature } from "../model/signature.ts";
import { visit } from "./visit.ts";

/**
 * The success statuses that a method sets to a literal: `this.response.status = 201`. Undefined if it sets none.
 */
export function readStatuses(node: FunctionNode | ArrowFunctionExpression): MethodSignature["statuses"] {
  const body = node.body?.type === "BlockStatement" ? node.body.body : [];
  const found = new Set<number>();
  let isAlways = false;
  let mayHaveReturned = false;
  for (const statement of body) {
    const own = statement.type === "ExpressionStatement" ? setStatus(statement.expression) : undefined;
    if (own !== undefined && !mayHaveReturned) isAlways = true;
    visit(statement, (inner) => {
      const status = setStatus(inner);
      if (status !== undefined) found.add(status);
      if (inner.type === "ReturnStatement") mayHaveReturned = true;
    });
  }
  if (found.size === 0) return undefined;
  const statuses = [...found].sort((one, other) => one - other);
  return isAlways ? statuses : ["default", ...statuses];
}

/** The status in `this.response.status = 201`. Undefined for any other expression and for other statuses than 2xx. */
function setStatus(node: Node): number | undefined {
  if (node.type !== "AssignmentExpression" || node.operator !== "=" || node.right.type !== "Literal")
    return undefined;
  const response = memberOf(node.left, "status");
  const owner = response && memberOf(response, "response");
  const { value } = node.right;
  const isSuccess = typeof value === "number" && value >= 200 && value < 300;
  return owner?.type === "ThisExpression" && isSuccess ? value : undefined;
}

/** The object of `object.name`. */
function memberOf(node: Node, name: string): Node | undefined {
  return node.type === "MemberExpression" &&
    !node.computed &&
    node.property.type === "Identifier" &&
    node.property.name === name
    ? node.object
    : undefined;
}

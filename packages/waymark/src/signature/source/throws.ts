import type { ArrowFunctionExpression, Function as FunctionNode, Statement } from "oxc-parser";
import { visit } from "./visit.ts";

/**
 * True if a method always throws: its last statement does, and no statement returns. A method that throws in another
 * way counts as one that may return.
 */
export function alwaysThrows(node: FunctionNode | ArrowFunctionExpression): boolean {
  const { body } = node;
  if (body?.type !== "BlockStatement" || !endsInThrow(body)) return false;
  let returns = false;
  visit(body, ({ type }) => {
    if (type === "ReturnStatement" || type === "YieldExpression") returns = true;
  });
  return !returns;
}

function endsInThrow(statement: Statement | null | undefined): boolean {
  if (statement?.type === "ThrowStatement") return true;
  if (statement?.type === "BlockStatement") return endsInThrow(statement.body.at(-1));
  return (
    statement?.type === "IfStatement" && endsInThrow(statement.consequent) && endsInThrow(statement.alternate)
  );
}

import type { Class } from "oxc-parser";
import type { SourceModules } from "./modules.ts";
import { type ClassSource, type FunctionSource, Scope } from "./scope.ts";

/**
 * The scope of a method that a class inherits: the type parameters of the method's class are bound to the arguments
 * after `extends`. Follows the classes from the derived one to the one that declares the method, as V8 linked them.
 *
 * Undefined if the source does not show the arguments, for instance if a function returns the base class.
 */
export function inheritedScope(
  { node, scope, owner }: FunctionSource,
  classes: readonly (ClassSource | undefined)[],
  modules: SourceModules,
): Scope | undefined {
  const depth = classes.findIndex((one) => one?.node === owner);
  if (!owner || depth < 1 || !owner.typeParameters) return undefined;
  let bound = classes[0]?.scope;
  for (let at = 0; at < depth; at++) {
    const base = classes[at + 1];
    const derived = classes[at];
    if (!bound || !derived || !base || !extendsClass(derived, modules)) return undefined;
    bound = bind(derived.node, bound, base);
  }
  if (!bound) return undefined;
  const inner = new Scope(scope.module, bound, bound.instance);
  inner.addParameters(node.typeParameters);
  return inner;
}

/** Whether a name of a class follows `extends`. The result of a call may have another type than the class itself. */
function extendsClass({ node, scope }: ClassSource, modules: SourceModules): boolean {
  if (node.superClass?.type !== "Identifier") return false;
  const found = modules.findValue([node.superClass.name], scope);
  return (
    found?.kind === "declaration" &&
    found.declaration.kind === "other" &&
    found.declaration.what === "a class"
  );
}

/** The scope of a base class for one derived class. An argument may be missing if the parameter has a default. */
function bind(derived: Class, from: Scope, { node, scope }: ClassSource): Scope {
  const given = derived.superTypeArguments?.params ?? [];
  const parameters = node.typeParameters?.params ?? [];
  if (parameters.length === 0) return scope;
  const key = `${derived.start} of ${from.module.source.file}${from.instance}`;
  const bound = new Scope(scope.module, scope.parent, `${scope.instance}<${key}>`);
  for (const [index, parameter] of parameters.entries()) {
    const argument = given[index];
    const { name } = parameter.name;
    if (argument) bound.types.set(name, { kind: "bound", node: argument, scope: from });
    else if (parameter.default)
      bound.types.set(name, { kind: "bound", node: parameter.default, scope: bound });
    else bound.types.set(name, { kind: "parameter", node: parameter, scope: bound });
  }
  return bound;
}

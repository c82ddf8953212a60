import type * as TypeScript from "typescript/unstable/sync";
import type { ObjectView, PropertyView, ReferenceView, TupleItemView, TypeView } from "./type-view.ts";

type Module = typeof TypeScript;
type Type = TypeScript.Type;

/** One level of a type. `module` holds the compiler's constants, so this file needs no import of it. */
export function typeView(type: Type, module: Module, checker: TypeScript.Checker): TypeView {
  const { TypeFlags } = module;
  const { flags } = type;
  if (type.isErrorType()) return { kind: "error" };
  if (flags & TypeFlags.AnyOrUnknown) return { kind: "unknown" };
  if (type.isLiteralType() && !type.isUnionType()) return { kind: "literal", value: type.value };
  if (type.isUnionType()) return { kind: "union", members: type.getTypes() ?? [] };
  if (type.isIntersectionType()) return { kind: "intersection", members: type.getTypes() ?? [] };
  if (flags & TypeFlags.String) return { kind: "string" };
  if (flags & TypeFlags.Number) return { kind: "number" };
  if (flags & TypeFlags.BigInt) return { kind: "bigint" };
  if (flags & TypeFlags.Boolean) return { kind: "boolean" };
  if (flags & TypeFlags.Null) return { kind: "null" };
  if (flags & (TypeFlags.Undefined | TypeFlags.Void)) return { kind: "undefined" };
  if (flags & TypeFlags.Never) return { kind: "never" };
  if (flags & TypeFlags.NonPrimitive) return { kind: "object keyword" };
  if (type.isTemplateLiteralType())
    return { kind: "template", texts: type.texts, types: type.getTypes() ?? [] };
  if (type.isStringMappingType()) {
    return { kind: "mapping", name: type.getSymbol()?.name ?? "", type: type.getTarget() };
  }
  if (type.isTypeParameter()) {
    const constraint = checker.getConstraintOfTypeParameter(type);
    return { kind: "parameter", name: type.getSymbol()?.name ?? "this", constraint };
  }
  if (type.isObjectType()) return objectView(type, module, checker);
  return { kind: "other", what: flags & TypeFlags.ESSymbolLike ? "a symbol" : "a type that is still open" };
}

function objectView(type: TypeScript.ObjectType, module: Module, checker: TypeScript.Checker): TypeView {
  const { ObjectFlags } = module;
  if (checker.isArrayType(type)) {
    const [items] = checker.getTypeArguments(type as TypeScript.TypeReference);
    return { kind: "array", items: items! };
  }
  if (checker.isTupleType(type)) return tupleView(type as TypeScript.TypeReference, module, checker);
  const symbol = type.getSymbol();
  const library = symbol && libraryName(symbol, module);
  if (library) return { kind: "library", name: library };
  const merged = mergedView(type, module, checker);
  return {
    ...merged,
    isClass: (type.objectFlags & ObjectFlags.Class) !== 0 || isClassReference(type, module),
  };
}

/** The properties and index signatures of an object type, or of an intersection of object types. */
export function mergedView(type: Type, module: Module, checker: TypeScript.Checker): ObjectView {
  const { SignatureKind } = module;
  const calls = [SignatureKind.Call, SignatureKind.Construct];
  const named = type.getAliasSymbol() ?? type.getSymbol();
  return {
    kind: "object",
    name: named && !named.name.startsWith("__") ? named.name : undefined,
    properties: checker.getPropertiesOfType(type).map((property) => propertyView(property, module, checker)),
    indexes: checker
      .getIndexInfosOfType(type)
      .map(({ keyType, valueType }) => ({ key: keyType, value: valueType })),
    isMapped: !type.isObjectType() || (type.objectFlags & module.ObjectFlags.Mapped) !== 0,
    isCode: calls.some((kind) => checker.getSignaturesOfType(type, kind).length > 0),
    isClass: false,
  };
}

/** The class or interface of an object type, with its type arguments. */
export function referenceView(
  type: Type,
  { SymbolFlags }: Module,
  checker: TypeScript.Checker,
): ReferenceView | undefined {
  const symbol = type.isObjectType() ? type.getSymbol() : undefined;
  if (!symbol || !(symbol.flags & (SymbolFlags.Interface | SymbolFlags.Class))) return undefined;
  const files = symbol.declarations.map(({ path }) => path);
  return {
    name: symbol.name,
    isLibrary: files.some((file) => LIBRARY.test(file)),
    files,
    arguments: type.isTypeReference() ? checker.getTypeArguments(type) : [],
  };
}

function isClassReference(type: TypeScript.ObjectType, { ObjectFlags }: Module): boolean {
  if (!type.isTypeReference()) return false;
  return ((type.getTarget() as TypeScript.ObjectType).objectFlags & ObjectFlags.Class) !== 0;
}

function tupleView(
  type: TypeScript.TypeReference,
  { ElementFlags }: Module,
  checker: TypeScript.Checker,
): TypeView {
  const { elementFlags } = type.getTarget() as unknown as TypeScript.TupleType;
  const items = checker.getTypeArguments(type).map((item, index): TupleItemView => {
    const flags = elementFlags[index] ?? ElementFlags.Required;
    if (flags & ElementFlags.Rest) return { type: item, kind: "rest" };
    if (flags & ElementFlags.Variadic) return { type: item, kind: "variadic" };
    return { type: item, kind: flags & ElementFlags.Optional ? "optional" : "required" };
  });
  return { kind: "tuple", items };
}

function propertyView(
  symbol: TypeScript.Symbol,
  { SymbolFlags }: Module,
  checker: TypeScript.Checker,
): PropertyView {
  const { declarations } = symbol;
  const isLibrary = declarations.some(({ path }) => LIBRARY.test(path));
  return {
    name: symbol.name,
    optional: (symbol.flags & SymbolFlags.Optional) !== 0,
    type: checker.getTypeOfSymbol(symbol)!,
    isLibrary,
    declarations: isLibrary
      ? []
      : declarations.flatMap((handle) => {
          const node = handle.resolve();
          if (!node) return [];
          const source = node.getSourceFile();
          return [{ file: source.fileName, start: node.getStart(source) }];
        }),
  };
}

/** The files of TypeScript's own library, and those that describe Node. */
const LIBRARY =
  /\/typescript[^/]*\/lib\/lib\.[^/]*\.d\.ts$|\/node_modules\/(?:@types\/node|undici-types|buffer)\//;

/** The name of a class or interface of the library: `Date`, `Temporal.PlainDate`. */
function libraryName(symbol: TypeScript.Symbol, { SymbolFlags }: Module): string | undefined {
  const isNamed = symbol.flags & (SymbolFlags.Interface | SymbolFlags.Class);
  if (!isNamed || !symbol.declarations.some(({ path }) => LIBRARY.test(path))) return undefined;
  const parent = symbol.getParent();
  const isGlobal = !parent || /^(?:"|__)/.test(parent.name) || parent.name === "global";
  return isGlobal ? symbol.name : `${parent.name}.${symbol.name}`;
}

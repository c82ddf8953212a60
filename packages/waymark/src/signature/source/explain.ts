import type { ImportSpecifier, Node } from "oxc-parser";
import { visitorKeys } from "oxc-parser";
import type { SourceLocation } from "../model/signature.ts";
import { SignatureError } from "../model/signature-error.ts";
import { ParsedModule } from "./module.ts";
import { SourceModules } from "./modules.ts";
import { resolveModule } from "./resolve-module.ts";
import type { SourceModule } from "./scope.ts";
import { SourceText } from "./text.ts";

/** Syntax that Node cannot run from a TypeScript file, with its replacement. */
export interface ModuleFault {
  readonly location: SourceLocation;
  readonly message: string;
}

/**
 * The parts of a module's text that prevent Node from loading it, in order: enums, parameter properties, decorators,
 * `accessor`, namespaces, imports without `type`, syntax errors. For the message of a failed startup, where Node names
 * neither line nor remedy.
 */
export function explainModuleError(path: string, text: string): ModuleFault[] {
  let module: SourceModule;
  try {
    module = new ParsedModule(new SourceText(path, text));
  } catch (error) {
    if (error instanceof SignatureError && error.location) {
      const place = `${path}:${error.location.line}:${error.location.column}: `;
      return [{ location: error.location, message: error.message.replace(place, "") }];
    }
    throw error;
  }
  const faults: ModuleFault[] = [];
  const report = (node: Node, message: string): void => {
    faults.push({ location: module.source.location(node.start), message });
  };
  for (const statement of module.program.body) visit(statement, report);
  if (module.typed) findTypeImports(module, report);
  return faults.sort(
    (one, other) => one.location.line - other.location.line || one.location.column - other.location.column,
  );
}

type Report = (node: Node, message: string) => void;

function visit(node: Node, report: Report): void {
  const message = explain(node);
  if (message) report(node, message);
  // A declaration without a value is erased as a whole.
  if ("declare" in node && node.declare) return;
  for (const key of visitorKeys[node.type] ?? []) {
    const child = (node as unknown as Record<string, Node | null | (Node | null)[]>)[key];
    for (const one of Array.isArray(child) ? child : [child]) if (one) visit(one, report);
  }
}

function explain(node: Node): string | undefined {
  switch (node.type) {
    case "TSEnumDeclaration":
      if (node.declare) return undefined;
      return `Node cannot run an enum. Write \`const ${node.id.name} = { ... } as const\` and \`type ${node.id.name} = (typeof ${node.id.name})[keyof typeof ${node.id.name}]\``;
    case "TSParameterProperty":
      return "Node cannot run a parameter property. Declare the field and assign it in the constructor";
    case "Decorator":
      return "Node cannot run a decorator. Waymark needs none: call the function, or override a hook such as `before()`";
    case "AccessorProperty":
    case "TSAbstractAccessorProperty":
      return "Node cannot run `accessor`. Write a getter and a setter";
    case "TSModuleDeclaration":
      if (node.declare || !hasValues(node)) return undefined;
      return "Node cannot run a namespace. Write a separate module, and `export` from it";
    case "TSImportEqualsDeclaration":
      if (node.importKind === "type") return undefined;
      return 'Node cannot run `import x = require("x")`. Write `import x from "x"`';
    case "TSExportAssignment":
      return "Node cannot run `export =`. Write `export { ... }` or `export default`";
    default:
      return undefined;
  }
}

const ERASED = new Set(["TSInterfaceDeclaration", "TSTypeAliasDeclaration", "TSModuleDeclaration"]);

/** False for a namespace that contains only types, which is erased. */
function hasValues(node: Extract<Node, { type: "TSModuleDeclaration" }>): boolean {
  if (!node.body) return false;
  return node.body.body.some((statement) => {
    const own = statement.type === "ExportNamedDeclaration" ? statement.declaration : statement;
    if (own?.type === "TSModuleDeclaration") return hasValues(own);
    return own !== null && !ERASED.has(own.type);
  });
}

/** Finds imports and re-exports of types without `type`. Node fails to link them. */
function findTypeImports(module: SourceModule, report: Report): void {
  const modules = new SourceModules();
  const isOnlyType = (specifier: string, name: string): boolean => {
    try {
      const file = resolveModule(specifier, module.source.file);
      return file !== undefined && modules.exportsOnlyType(modules.read(file), name);
    } catch {
      // The other module's faults are reported with that module.
      return false;
    }
  };
  for (const statement of module.program.body) {
    if (statement.type === "ImportDeclaration" && statement.importKind !== "type") {
      for (const one of statement.specifiers) {
        const name = importedName(one);
        if (name === undefined || !isOnlyType(statement.source.value, name)) continue;
        report(
          one,
          `\`${name}\` is a type, which Node erases before it links modules. Write \`import ${one.type === "ImportDefaultSpecifier" ? `type ${one.local.name}` : `{ type ${name} }`} from "${statement.source.value}"\``,
        );
      }
    } else if (statement.type === "ExportNamedDeclaration" && statement.exportKind !== "type") {
      for (const one of statement.specifiers) {
        const name = "name" in one.local ? one.local.name : one.local.value;
        if (one.exportKind === "type") continue;
        const onlyType = statement.source
          ? isOnlyType(statement.source.value, name)
          : modules.declaresOnlyType(module, name, isOnlyType);
        if (onlyType)
          report(
            one,
            `\`${name}\` is a type, which Node erases before it links modules. Write \`export { type ${name} }\``,
          );
      }
    }
  }
}

function importedName(
  specifier: ImportSpecifier | { readonly type: "ImportDefaultSpecifier" | "ImportNamespaceSpecifier" },
): string | undefined {
  if (specifier.type === "ImportDefaultSpecifier") return "default";
  if (specifier.type !== "ImportSpecifier" || specifier.importKind === "type") return undefined;
  return "name" in specifier.imported ? specifier.imported.name : specifier.imported.value;
}

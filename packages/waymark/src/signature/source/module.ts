import {
  type ArrowFunctionExpression,
  type Class,
  type ClassElement,
  type Comment,
  type Directive,
  type ExportDefaultDeclaration,
  type Function as FunctionNode,
  type MethodDefinition,
  type Node,
  type Program,
  parseSync,
  type Statement,
  visitorKeys,
} from "oxc-parser";
import { SignatureError } from "../model/signature-error.ts";
import {
  type ClassSource,
  type ExportedName,
  type FunctionSource,
  type ImportedName,
  Scope,
  type SourceModule,
} from "./scope.ts";
import type { SourceText } from "./text.ts";

/** Parses a module's text once: its functions by V8's position, its names, its comments. */
export class ParsedModule implements SourceModule {
  readonly source: SourceText;
  readonly program: Program;
  readonly comments: readonly Comment[];
  readonly usedComments = new Set<number>();
  readonly scope: Scope;
  readonly functions = new Map<number, FunctionSource>();
  readonly classes = new Map<number, ClassSource>();
  readonly exports = new Map<string, ExportedName>();
  /** The specifiers of `export * from`. */
  readonly exportStars: string[] = [];
  /** Whether the file's syntax allows types. */
  readonly typed: boolean;

  constructor(source: SourceText) {
    this.source = source;
    const result = parseSync(source.file, source.text, { preserveParens: false });
    const [error] = result.errors.filter(({ severity }) => severity === "Error");
    if (error) {
      const at = error.labels[0];
      throw new SignatureError("UNREADABLE_SOURCE", error.message, at && source.location(at.start));
    }
    this.program = result.program;
    this.comments = result.comments;
    this.typed = /\.[cm]?ts$/.test(source.file);
    this.scope = new Scope(this);
    for (const statement of this.program.body) this.#export(statement);
    this.#declareAll(this.program.body, this.scope);
    this.#visitAll(this.program.body, this.scope);
  }

  #visitAll(nodes: readonly (Node | null)[], scope: Scope): void {
    for (const node of nodes) if (node) this.#visit(node, scope);
  }

  #visit(node: Node, scope: Scope): void {
    switch (node.type) {
      case "ClassDeclaration":
      case "ClassExpression":
        this.#visitClass(node, scope);
        break;
      case "FunctionDeclaration":
      case "FunctionExpression":
      case "ArrowFunctionExpression":
        this.#visitFunction(node, { scope });
        break;
      case "BlockStatement": {
        const inner = new Scope(this, scope);
        this.#declareAll(node.body, inner);
        this.#visitAll(node.body, inner);
        break;
      }
      case "TSInterfaceDeclaration":
      case "TSTypeAliasDeclaration":
        // Types contain no functions. They are read when a signature names them.
        break;
      default:
        this.#visitChildren(node, scope);
    }
  }

  #visitChildren(node: Node, scope: Scope): void {
    for (const key of visitorKeys[node.type] ?? []) {
      const child = (node as unknown as Record<string, Node | null | (Node | null)[]>)[key];
      if (Array.isArray(child)) this.#visitAll(child, scope);
      else if (child) this.#visit(child, scope);
    }
  }

  #visitClass(node: Class, outer: Scope): void {
    const scope = new Scope(this, outer);
    scope.addParameters(node.typeParameters);
    // V8 does not see the word `abstract`.
    this.classes.set(this.source.text.indexOf("class", node.start), { node, scope });
    if (node.superClass) this.#visit(node.superClass, outer);
    for (const member of node.body.body) {
      if (member.type === "MethodDefinition") {
        if (member.computed) this.#visit(member.key, scope);
        const own = { scope, member, owner: node };
        this.#visitFunction(member.value, own);
        if (member.kind === "constructor") this.classes.set(this.#parenthesis(member.value), { node, scope });
      } else {
        this.#visit(member as Exclude<ClassElement, MethodDefinition>, scope);
      }
    }
  }

  #visitFunction(
    node: FunctionNode | ArrowFunctionExpression,
    { scope: outer, ...place }: Omit<FunctionSource, "node">,
  ): void {
    const scope = new Scope(this, outer);
    scope.addParameters(node.typeParameters);
    if (node.body) {
      this.functions.set(this.#parenthesis(node), { node, scope, ...place });
    }
    this.#visitAll(node.params, scope);
    if (node.body) this.#visit(node.body, scope);
  }

  /** V8's position of a function: its opening parenthesis, or an arrow function's first character. */
  #parenthesis(node: FunctionNode | ArrowFunctionExpression): number {
    const isArrow = node.type === "ArrowFunctionExpression";
    if (isArrow && (node.async || !node.typeParameters)) return node.start;
    const from = node.typeParameters?.end ?? (isArrow ? undefined : node.id?.end);
    return this.source.text.indexOf("(", from ?? node.start);
  }

  #declareAll(statements: readonly (Statement | Directive)[], scope: Scope): void {
    for (const statement of statements) {
      if (statement.type === "ExportNamedDeclaration" || statement.type === "ExportDefaultDeclaration") {
        if (statement.declaration) this.#declare(statement.declaration as Node, scope);
      } else {
        this.#declare(statement, scope);
      }
    }
  }

  #declare(node: Node, scope: Scope): void {
    switch (node.type) {
      case "TSInterfaceDeclaration": {
        const known = scope.types.get(node.id.name);
        if (known?.kind === "interface") known.nodes.push(node);
        // An interface beside a class or an import adds to it.
        else if (known)
          scope.types.set(node.id.name, { kind: "other", what: "a type with several declarations" });
        else scope.types.set(node.id.name, { kind: "interface", nodes: [node], scope });
        break;
      }
      case "TSTypeAliasDeclaration":
        scope.types.set(node.id.name, { kind: "alias", node, scope });
        break;
      case "ClassDeclaration":
        if (node.id) this.#declareOther(node.id.name, "a class", scope);
        break;
      case "TSEnumDeclaration":
        this.#declareOther(node.id.name, "an enum", scope);
        break;
      case "FunctionDeclaration":
      case "TSDeclareFunction":
        if (node.id) scope.values.set(node.id.name, { kind: "other", what: "a function" });
        break;
      case "VariableDeclaration":
        for (const { id, init } of node.declarations) {
          if (id.type !== "Identifier") continue;
          const type = id.typeAnnotation?.typeAnnotation ?? null;
          const isConst = node.kind === "const";
          scope.values.set(
            id.name,
            isConst ? { kind: "const", init, type, scope } : { kind: "other", what: "a variable" },
          );
        }
        break;
      case "ImportDeclaration":
        for (const one of node.specifiers) {
          const imported: ImportedName = {
            kind: "import",
            specifier: node.source.value,
            name:
              one.type === "ImportDefaultSpecifier"
                ? "default"
                : one.type === "ImportNamespaceSpecifier"
                  ? "*"
                  : moduleName(one.imported),
            start: one.start,
          };
          scope.types.set(one.local.name, imported);
          scope.values.set(one.local.name, imported);
        }
        break;
    }
  }

  #declareOther(name: string, what: string, scope: Scope): void {
    scope.types.set(name, { kind: "other", what });
    scope.values.set(name, { kind: "other", what });
  }

  #export(statement: Statement | Directive): void {
    if (statement.type === "ExportAllDeclaration") {
      const specifier = statement.source.value;
      if (!statement.exported) this.exportStars.push(specifier);
      else this.exports.set(moduleName(statement.exported), importOf(specifier, "*", statement.start));
    } else if (statement.type === "ExportNamedDeclaration") {
      for (const one of statement.specifiers) {
        const local = moduleName(one.local);
        const exported = moduleName(one.exported);
        this.exports.set(
          exported,
          statement.source
            ? importOf(statement.source.value, local, one.start)
            : { kind: "local", name: local },
        );
      }
      for (const name of declaredNames(statement.declaration))
        this.exports.set(name, { kind: "local", name });
    } else if (statement.type === "ExportDefaultDeclaration") {
      const name = defaultName(statement);
      if (name) this.exports.set("default", { kind: "local", name });
    }
  }
}

function importOf(specifier: string, name: string, start: number): ImportedName {
  return {
    kind: "import",
    specifier,
    name,
    start,
  };
}

/** An imported or exported name may be a string. */
function moduleName(node: {
  readonly type: string;
  readonly name?: string;
  readonly value?: unknown;
}): string {
  return node.name ?? String(node.value);
}

function declaredNames(declaration: Node | null): string[] {
  if (!declaration) return [];
  if (declaration.type === "VariableDeclaration") {
    return declaration.declarations.flatMap(({ id }) => (id.type === "Identifier" ? [id.name] : []));
  }
  const id = "id" in declaration ? declaration.id : undefined;
  return id && typeof id === "object" && "name" in id ? [id.name as string] : [];
}

function defaultName({ declaration }: ExportDefaultDeclaration): string | undefined {
  if (declaration.type === "Identifier") return declaration.name;
  return "id" in declaration && declaration.id ? (declaration.id as { name: string }).name : undefined;
}

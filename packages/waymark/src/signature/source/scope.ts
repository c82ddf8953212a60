import type {
  ArrowFunctionExpression,
  Class,
  Comment,
  Expression,
  Function as FunctionNode,
  MethodDefinition,
  Program,
  TSInterfaceDeclaration,
  TSType,
  TSTypeAliasDeclaration,
  TSTypeParameter,
  TSTypeParameterDeclaration,
} from "oxc-parser";
import type { SourceText } from "./text.ts";

/** The declaration of a name in a type position. */
export type TypeDeclaration =
  | { readonly kind: "interface"; readonly nodes: TSInterfaceDeclaration[]; readonly scope: Scope }
  | { readonly kind: "alias"; readonly node: TSTypeAliasDeclaration; readonly scope: Scope }
  /** An unbound type parameter, which has the type of its constraint. */
  | { readonly kind: "parameter"; readonly node: TSTypeParameter; readonly scope: Scope }
  /** A type parameter that is bound to a type. */
  | { readonly kind: "bound"; readonly node: TSType; readonly scope: Scope }
  /** The key of a mapped type, bound to one of its names. */
  | { readonly kind: "key"; readonly name: string | number }
  | { readonly kind: "other"; readonly what: string }
  | ImportedName;

/** The declaration of a name in a value position, as far as the text shows it. */
export type ValueDeclaration =
  | {
      readonly kind: "const";
      readonly init: Expression | null;
      readonly type: TSType | null;
      readonly scope: Scope;
    }
  | { readonly kind: "other"; readonly what: string }
  | ImportedName;

export interface ImportedName {
  readonly kind: "import";
  readonly specifier: string;
  /** `default`, `*`, or the name that the other module exports. */
  readonly name: string;
  readonly start: number;
}

/** The names that are visible in a part of a module: its own, then those of the enclosing scopes. */
export class Scope {
  readonly module: SourceModule;
  readonly parent: Scope | undefined;
  /** Distinguishes two instances of a generic type. Empty if no type parameter is bound. */
  readonly instance: string;
  readonly types = new Map<string, TypeDeclaration>();
  readonly values = new Map<string, ValueDeclaration>();

  constructor(module: SourceModule, parent?: Scope, instance = parent?.instance ?? "") {
    this.module = module;
    this.parent = parent;
    this.instance = instance;
  }

  findType(name: string): TypeDeclaration | undefined {
    return this.types.get(name) ?? this.parent?.findType(name);
  }

  findValue(name: string): ValueDeclaration | undefined {
    return this.values.get(name) ?? this.parent?.findValue(name);
  }

  /** Declares unbound type parameters: those of a function or class. */
  addParameters(declaration: TSTypeParameterDeclaration | null | undefined): void {
    for (const node of declaration?.params ?? []) {
      this.types.set(node.name.name, { kind: "parameter", node, scope: this });
    }
  }
}

/** A function that V8 can locate, with the scope of its types. */
export interface FunctionSource {
  readonly node: FunctionNode | ArrowFunctionExpression;
  readonly scope: Scope;
  /** The class member and the class. Absent for a function outside a class body. */
  readonly member?: MethodDefinition;
  readonly owner?: Class;
}

export interface ClassSource {
  readonly node: Class;
  readonly scope: Scope;
}

/** An exported name: a local name, or a name of another module. */
export type ExportedName = { readonly kind: "local"; readonly name: string } | ImportedName;

/** A module's text, parsed once: its functions by V8's position, its names, its comments. */
export interface SourceModule {
  readonly source: SourceText;
  readonly program: Program;
  readonly comments: readonly Comment[];
  /** The offsets of the comments that document a part of a signature. */
  readonly usedComments: Set<number>;
  readonly scope: Scope;
  readonly functions: ReadonlyMap<number, FunctionSource>;
  readonly classes: ReadonlyMap<number, ClassSource>;
  readonly exports: ReadonlyMap<string, ExportedName>;
  /** The specifiers of `export * from`. */
  readonly exportStars: readonly string[];
  /** Whether the file's syntax allows types. */
  readonly typed: boolean;
}

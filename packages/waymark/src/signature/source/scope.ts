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

/** What a name stands for where types are written. */
export type TypeDeclaration =
  | { readonly kind: "interface"; readonly nodes: TSInterfaceDeclaration[]; readonly scope: Scope }
  | { readonly kind: "alias"; readonly node: TSTypeAliasDeclaration; readonly scope: Scope }
  /** A type parameter, which stands for its constraint. */
  | { readonly kind: "parameter"; readonly node: TSTypeParameter; readonly scope: Scope }
  /** A type parameter that has been given a type. */
  | { readonly kind: "bound"; readonly node: TSType; readonly scope: Scope }
  /** A mapped type's key: one of its names at a time. */
  | { readonly kind: "key"; readonly name: string | number }
  | { readonly kind: "other"; readonly what: string }
  | ImportedName;

/** What a name stands for where values are written; only what the text alone tells. */
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

/** The names that a part of a module sees: its own, then those of what is around it. */
export class Scope {
  readonly module: SourceModule;
  readonly parent: Scope | undefined;
  /** Tells two instances of a generic type apart; empty where no type parameter is given a type. */
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

  /** Type parameters that nobody gives a type: those of a function or class. */
  addParameters(declaration: TSTypeParameterDeclaration | null | undefined): void {
    for (const node of declaration?.params ?? []) {
      this.types.set(node.name.name, { kind: "parameter", node, scope: this });
    }
  }
}

/** A function that V8 can point at, with what its types can see. */
export interface FunctionSource {
  readonly node: FunctionNode | ArrowFunctionExpression;
  readonly scope: Scope;
  /** The class member that it is, and the class; absent for a function outside a class body. */
  readonly member?: MethodDefinition;
  readonly owner?: Class;
}

export interface ClassSource {
  readonly node: Class;
  readonly scope: Scope;
}

/** What a module exports under a name: a name of its own, or one of another module. */
export type ExportedName = { readonly kind: "local"; readonly name: string } | ImportedName;

/** A module's text, parsed once: its functions by V8's position, its names, its comments. */
export interface SourceModule {
  readonly source: SourceText;
  readonly program: Program;
  readonly comments: readonly Comment[];
  readonly scope: Scope;
  readonly functions: ReadonlyMap<number, FunctionSource>;
  readonly classes: ReadonlyMap<number, ClassSource>;
  readonly exports: ReadonlyMap<string, ExportedName>;
  /** The specifiers of `export * from`. */
  readonly exportStars: readonly string[];
  /** Whether the file's syntax allows types. */
  readonly typed: boolean;
}

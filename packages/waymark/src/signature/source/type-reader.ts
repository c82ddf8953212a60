import type { Expression, Node, TSType } from "oxc-parser";
import type { SourceLocation, TypeNode } from "../model/signature.ts";
import type { SignatureError } from "../model/signature-error.ts";
import type { AskedParameter } from "./asked.ts";
import type { RefinementTag } from "./jsdoc.ts";
import type { SourceModules } from "./modules.ts";
import type { Scope, SourceModule } from "./scope.ts";
import type { Shape } from "./shapes.ts";

export interface WrittenPattern {
  readonly text: string;
  readonly location: SourceLocation;
}

/** A named type as a signature refers to it. */
export interface NamedType {
  /** Identifies the type among all types. */
  readonly key: string;
  readonly name: string;
  readonly node: Node;
  readonly scope: Scope;
}

/** Reads the types of one signature. The readers of single kinds of syntax call it for the parts of a type. */
export interface TypeReader {
  /** Types that contain themselves, by name. */
  readonly definitions: Record<string, TypeNode>;
  readonly modules: SourceModules;
  /** The scope of the method, which declares the method's own type parameters. */
  readonly methodScope: Scope;
  /** Every `@pattern` that was read, with its location. */
  readonly patterns: readonly WrittenPattern[];
  /** @throws SignatureError at the part that cannot be read */
  read(node: TSType, scope: Scope): TypeNode;
  /** The properties of an object type, for operators. Undefined for any other type. */
  shape(node: TSType, scope: Scope): Shape | undefined;
  /** Runs one step of reading a type. Fails after too many steps, so that an endless type ends. */
  bounded<Result>(node: Node, scope: Scope, read: () => Result): Result;
  /** The type of a default value or a constant. */
  valueType(node: Expression, scope: Scope): TypeNode | undefined;
  /**
   * The type of the method's parameter as the compiler sees it. Fails with `error` without the compiler, or if it
   * cannot read the type either.
   */
  askParameter(parameter: AskedParameter, error: SignatureError): TypeNode;
  /** Remembers a declaration that was read, so that its comments are checked. */
  visit(node: Node, scope: Scope): void;
  /** Fails for a comment within a type whose tags refine nothing. */
  checkComments(node: TSType, scope: Scope): void;
  /**
   * The type of a parameter, if the compiler agrees. Compares nothing unless the start asks for it (`waymark check`).
   *
   * @throws SignatureError if it does not agree
   */
  verified(type: TypeNode, parameter: AskedParameter): TypeNode;
  /** A method's return type. The parts that cannot be read remain as text, and their errors are collected. */
  returnType(node: TSType, scope: Scope, errors: SignatureError[]): TypeNode;
  /** The return type that the compiler infers. Undefined if it is not asked, or if the type cannot be represented. */
  inferredReturn(node: Node, scope: Scope): TypeNode | undefined;
  /** Adds JSDoc refinements to a type. */
  refine(type: TypeNode, tags: readonly RefinementTag[], module: SourceModule): TypeNode;
  /** @throws SignatureError always, for a type that cannot be read */
  fail(node: Node, scope: Scope, reason?: string): never;
  /**
   * Reads a named type. A type that contains itself becomes a definition.
   *
   * @throws SignatureError for a type that refers only to itself: `type A = B; type B = A`
   */
  named(type: NamedType, read: () => TypeNode): TypeNode;
}

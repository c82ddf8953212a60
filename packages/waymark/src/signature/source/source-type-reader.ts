import type { Comment, Expression, Node, TSType } from "oxc-parser";
import type { TypeNode } from "../model/signature.ts";
import { SignatureError, WAYS_OUT } from "../model/signature-error.ts";
import type { AskedParameter } from "./asked.ts";
import type { CompilerAccess, CompilerQuestions } from "./compiler-questions.ts";
import { valueContext } from "./constants.ts";
import { hasRefinement, type RefinementTag } from "./jsdoc.ts";
import type { SourceModules } from "./modules.ts";
import { refineType } from "./refine.ts";
import { readReturnType } from "./returns.ts";
import type { Scope, SourceModule } from "./scope.ts";
import type { Shape } from "./shapes.ts";
import { readNode, shapeNode } from "./syntax.ts";
import type { NamedType, TypeReader, WrittenPattern } from "./type-reader.ts";
import { valueType } from "./values.ts";

/** Real types have fewer steps. Types that grow endlessly stop here. */
const MAXIMUM_STEPS = 20_000;
const MAXIMUM_DEPTH = 300;

/** Reads the types of one signature. Collects types that contain themselves in `definitions`. */
export class SourceTypeReader implements TypeReader {
  readonly definitions: Record<string, TypeNode> = {};
  readonly modules: SourceModules;
  readonly methodScope: Scope;
  /** The named types that are being read. A type that occurs within itself becomes a reference. */
  readonly #open = new Map<string, { name: string | undefined }>();
  readonly #recursive = new Map<string, string>();
  readonly patterns: WrittenPattern[] = [];
  readonly #declarations: { readonly node: Node; readonly module: SourceModule }[] = [];
  readonly #compiler: CompilerQuestions | undefined;
  #steps = 0;
  #depth = 0;

  constructor(modules: SourceModules, methodScope: Scope, compiler?: CompilerAccess) {
    this.modules = modules;
    this.methodScope = methodScope;
    this.#compiler = compiler?.(this);
  }

  read(node: TSType, scope: Scope): TypeNode {
    return this.bounded(node, scope, () => {
      try {
        return readNode(this, node, scope);
      } catch (error) {
        // Within an instance of a generic type, only the compiler's type of the whole reference is known.
        if (!isUnreadable(error) || scope.instance !== "" || !this.#compiler) throw error;
        return this.#compiler.type(node, scope, error);
      }
    });
  }

  askParameter(parameter: AskedParameter, error: SignatureError): TypeNode {
    if (!this.#compiler) throw error;
    return this.#compiler.parameter(parameter, error);
  }

  shape(node: TSType, scope: Scope): Shape | undefined {
    return this.bounded(node, scope, () => shapeNode(this, node, scope));
  }

  bounded<Result>(node: Node, scope: Scope, read: () => Result): Result {
    this.#steps++;
    this.#depth++;
    try {
      const isEndless = this.#steps > MAXIMUM_STEPS || this.#depth > MAXIMUM_DEPTH;
      return isEndless ? this.fail(node, scope, "it grows endlessly") : read();
    } finally {
      this.#depth--;
    }
  }

  valueType(node: Expression, scope: Scope): TypeNode | undefined {
    return valueType(node, false, valueContext(this, scope));
  }

  verified(type: TypeNode, parameter: AskedParameter): TypeNode {
    if (type.kind !== "unreadable") this.#compiler?.verify(type, parameter);
    return type;
  }

  checkComments(node: TSType, scope: Scope): void {
    const { comments, source } = scope.module;
    // A comment between the colon and the type belongs to neither.
    const before = comments.findLast(({ end }) => end <= node.start);
    const isBefore = before && source.text.slice(before.end, node.start).trim() === "";
    const start = isBefore ? before.start : node.start;
    const spans = [{ node: { ...node, start }, module: scope.module }, ...this.#declarations];
    for (const { node: read, module } of spans) {
      for (const comment of commentsWithin(module.comments, read)) {
        if (module.usedComments.has(comment.start) || !hasRefinement(comment)) continue;
        throw new SignatureError(
          "INVALID_REFINEMENT",
          "the tags of this comment refine nothing here. Write them before a property, an item of a tuple, or a type in parentheses: `(/** @minLength 1 */ string)[]`",
          module.source.location(comment.start),
        );
      }
    }
  }

  visit(node: Node, { module }: Scope): void {
    if (!this.#declarations.some((known) => known.node === node)) this.#declarations.push({ node, module });
  }

  returnType(node: TSType, scope: Scope, errors: SignatureError[]): TypeNode {
    return readReturnType(this, node, scope, errors);
  }

  inferredReturn(node: Node, scope: Scope): TypeNode | undefined {
    return this.#compiler?.returned({ node, scope });
  }

  refine(type: TypeNode, tags: readonly RefinementTag[], module: SourceModule): TypeNode {
    return tags.reduce((refined, { key, text, offset, name = key }) => {
      const result = refineType(refined, key, text);
      if ("type" in result) {
        if (key === "pattern") this.patterns.push({ text, location: module.source.location(offset) });
        return result.type;
      }
      throw new SignatureError(
        "INVALID_REFINEMENT",
        `@${name} ${result.problem}`,
        module.source.location(offset),
      );
    }, type);
  }

  fail(node: Node, scope: Scope, reason = "Waymark does not support this type"): never {
    const { source } = scope.module;
    const text = source.slice(node).replace(/\s+/g, " ");
    const shown = text.length > 60 ? `${text.slice(0, 57)}...` : text;
    throw new SignatureError(
      "UNREADABLE_TYPE",
      `cannot read the type \`${shown}\`: ${reason}. ${WAYS_OUT}`,
      source.location(node.start),
    );
  }

  named({ key, name, node, scope }: NamedType, read: () => TypeNode): TypeNode {
    const known = this.#recursive.get(key);
    if (known !== undefined) return { kind: "reference", name: known };
    const open = this.#open.get(key);
    if (open) {
      open.name ??= this.#freeName(name);
      return { kind: "reference", name: open.name };
    }
    const entry: { name: string | undefined } = { name: undefined };
    this.#open.set(key, entry);
    let type: TypeNode;
    try {
      type = read();
    } finally {
      this.#open.delete(key);
    }
    if (entry.name === undefined) return type;
    // TypeScript rejects it, but Node runs it, and its converter would recurse endlessly.
    if (leadsTo(entry.name, type, this.definitions)) {
      return this.fail(node, scope, "it refers only to itself");
    }
    this.definitions[entry.name] = type;
    this.#recursive.set(key, entry.name);
    return { kind: "reference", name: entry.name };
  }

  #freeName(name: string): string {
    const taken = new Set([
      ...Object.keys(this.definitions),
      ...[...this.#open.values()].map((entry) => entry.name),
    ]);
    let free = name;
    for (let count = 2; taken.has(free); count++) free = `${name}${count}`;
    return free;
  }
}

const isUnreadable = (error: unknown): error is SignatureError =>
  error instanceof SignatureError && error.code === "UNREADABLE_TYPE";

function commentsWithin(comments: readonly Comment[], { start, end }: Node): readonly Comment[] {
  return comments.filter((comment) => comment.start >= start && comment.end <= end);
}

/** Whether a type is the type of that name, or a union with it as a member, without any structure in between. */
function leadsTo(name: string, type: TypeNode, definitions: { readonly [name: string]: TypeNode }): boolean {
  if (type.kind === "union") return type.members.some((member) => leadsTo(name, member, definitions));
  if (type.kind !== "reference") return false;
  if (type.name === name) return true;
  // A type that is still being read has no definition. It makes this check itself when it is complete.
  const target = definitions[type.name];
  return target !== undefined && leadsTo(name, target, definitions);
}

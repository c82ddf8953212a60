import type { TSType } from "oxc-parser";
import type { TypeNode } from "../model/signature.ts";
import { SignatureError } from "../model/signature-error.ts";
import type { Asked, AskedParameter } from "../source/asked.ts";
import type { CompilerAccess, CompilerQuestions } from "../source/compiler-questions.ts";
import type { Scope } from "../source/scope.ts";
import type { TypeReader } from "../source/type-reader.ts";
import { checkSource } from "./check-source.ts";
import { readReturned } from "./checked-returns.ts";
import { CheckedTypeReader } from "./checked-type-reader.ts";
import { CompilerUnavailable, withoutCompiler } from "./load-typescript.ts";
import { sameType } from "./same-type.ts";
import type { CheckedType, MethodPlace, TypeProgram } from "./type-view.ts";

/** The compiler for one method. */
export interface MethodCompiler {
  /** @throws CompilerUnavailable without a usable compiler */
  readonly open: () => TypeProgram;
  /** The class for which the method is read. Undefined if its source is unknown. */
  readonly place: MethodPlace | undefined;
  /** Whether the compiler is asked for every parameter, to compare it with the type that the source shows. */
  readonly verifies?: boolean | undefined;
  /** Whether the compiler infers a return type that is not written. */
  readonly infers?: boolean | undefined;
}

/** The compiler for the types that the reader of the source does not read exactly. */
export const compilerAccess =
  (compiler: MethodCompiler): CompilerAccess =>
  (reader) =>
    new MethodQuestions(compiler, reader);

class MethodQuestions implements CompilerQuestions {
  readonly #compiler: MethodCompiler;
  readonly #reader: TypeReader;
  /** The errors that remain after the compiler was asked. A question for a larger part may still succeed. */
  readonly #final = new WeakSet<SignatureError>();

  constructor(compiler: MethodCompiler, reader: TypeReader) {
    this.#compiler = compiler;
    this.#reader = reader;
  }

  type(node: TSType, scope: Scope, error: SignatureError): TypeNode {
    const { file } = scope.module.source;
    return this.#ask({ node, scope }, error, (program) =>
      program.typeOf({ file, start: node.start, end: node.end }),
    );
  }

  parameter({ index, ...asked }: AskedParameter, error: SignatureError): TypeNode {
    const { place } = this.#compiler;
    const { file } = asked.scope.module.source;
    return this.#ask(asked, error, (program) =>
      place ? program.parameterOf(place, index) : program.parameterAt({ file, start: asked.node.start }),
    );
  }

  verify(read: TypeNode, { index, ...asked }: AskedParameter): void {
    const { place, verifies, open } = this.#compiler;
    if (!verifies || !place) return;
    const { source } = asked.scope.module;
    let type: TypeNode;
    try {
      const program = open();
      const found = program.parameterOf(place, index);
      if (!found) return;
      type = new CheckedTypeReader(program, this.#reader).read(found, asked);
    } catch (error) {
      // The compiler's form of the type may have a part that no request carries and that no value needs.
      if (error instanceof SignatureError) return;
      if (!(error instanceof CompilerUnavailable)) throw error;
      throw new SignatureError("UNREADABLE_TYPE", error.message, source.location(asked.node.start));
    }
    const { definitions } = this.#reader;
    if (sameType({ type: read, definitions }, { type, definitions })) return;
    throw new SignatureError(
      "UNREADABLE_TYPE",
      `the compiler reads the type \`${source.slice(asked.node)}\` differently. A file that no controller imports may add to it (\`declare global\`, \`declare module\`): import that file`,
      source.location(asked.node.start),
    );
  }

  returned(asked: Asked): TypeNode | undefined {
    const { place, infers, open } = this.#compiler;
    if (!infers || !place) return undefined;
    const { definitions } = this.#reader;
    const known = new Set(Object.keys(definitions));
    let type: TypeNode | undefined;
    try {
      const program = open();
      const found = program.returnOf(place);
      type = found && readReturned(found, asked, this.#reader, program);
    } catch (error) {
      if (!mayGiveUp(error)) throw error;
    }
    if (!type) for (const name of Object.keys(definitions)) if (!known.has(name)) delete definitions[name];
    return type;
  }

  #ask(
    asked: Asked,
    error: SignatureError,
    find: (program: TypeProgram) => CheckedType | undefined,
  ): TypeNode {
    try {
      const program = this.#compiler.open();
      const type = find(program);
      if (!type) throw error;
      const checked = new CheckedTypeReader(program, this.#reader);
      const node = checked.read(type, asked);
      checkSource(asked, checked.objects.files, this.#reader, program);
      return node;
    } catch (cause) {
      throw this.#reason(error, cause);
    }
  }

  /** The error to report: the first one for which the compiler was asked. */
  #reason(error: SignatureError, cause: unknown): unknown {
    if (this.#final.has(error)) return error;
    const reason = cause instanceof CompilerUnavailable ? withoutCompiler(error, cause) : cause;
    if (isFailure(cause)) {
      const message = `TypeScript's compiler failed: ${cause.message}`;
      return new SignatureError("UNREADABLE_TYPE", message, error.location);
    }
    if (reason instanceof SignatureError) this.#final.add(reason);
    return reason;
  }
}

/** The process of the compiler ended, or its answer was unexpected. */
function isFailure(error: unknown): error is Error {
  return error instanceof Error && error.constructor === Error;
}

/** Whether an error only means that the inferred return type is not documented. A RangeError is a circular type. */
function mayGiveUp(error: unknown): boolean {
  return (
    error instanceof SignatureError ||
    error instanceof CompilerUnavailable ||
    error instanceof RangeError ||
    isFailure(error)
  );
}

import type { TSType } from "oxc-parser";
import type { TypeNode } from "../model/signature.ts";
import type { SignatureError } from "../model/signature-error.ts";
import type { Asked, AskedParameter } from "./asked.ts";
import type { Scope } from "./scope.ts";
import type { TypeReader } from "./type-reader.ts";

/** The compiler, as the reader of one signature asks it. Each question has the error that remains without an answer. */
export interface CompilerQuestions {
  /** The type of a type's syntax, outside of generic declarations. */
  type(node: TSType, scope: Scope, error: SignatureError): TypeNode;
  parameter(asked: AskedParameter, error: SignatureError): TypeNode;
  /**
   * Compares a parameter's type with that of the compiler, if the start asks for it.
   *
   * @throws SignatureError if they differ
   */
  verify(read: TypeNode, asked: AskedParameter): void;
  /**
   * The return type that the compiler infers for the method, if the start asks for it. Undefined for a type that
   * cannot be represented, and without the compiler: an inferred type only documents.
   */
  returned(asked: Asked): TypeNode | undefined;
}

/** Creates the questions of one signature. */
export type CompilerAccess = (reader: TypeReader) => CompilerQuestions;

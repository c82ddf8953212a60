import type { MethodSignature } from "./model.ts";

/** A method to read: `verb` is looked up along the prototype chain of `controller`. */
export interface SignatureRequest {
  /** A loaded controller class. */
  readonly controller: abstract new (
    ...args: never[]
  ) => unknown;
  readonly verb: string;
}

export interface ReadOptions {
  /** What to do with a type that cannot be read. Default "error". */
  readonly unreadableTypes?: "error" | "raw";
  /** Hears of each type passed on raw; one line, with file, line and column. */
  readonly warn?: (message: string) => void;
}

/**
 * The signatures of methods, in the order of the requests, read from their source files: V8 says
 * where each function stands, so re-exports, base classes and mixins are exact. Opens one inspector
 * session and closes it; parses each module once.
 *
 * @throws SignatureError for the first fault, with file, line, column and what to write instead
 */
export const readSignatures = (
  _requests: readonly SignatureRequest[],
  _options: ReadOptions = {},
): MethodSignature[] => {
  throw new Error("being written");
};

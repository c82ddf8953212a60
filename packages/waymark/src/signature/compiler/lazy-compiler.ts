import { dirname } from "node:path";
import { CompilerUnavailable } from "./load-typescript.ts";
import type { TypeProgram } from "./type-view.ts";
import { TypeScriptProgram } from "./typescript.ts";

/** The compiler of one start. Opens with the first question. */
export class LazyCompiler {
  readonly #roots: readonly string[];
  #program: TypeScriptProgram | undefined;
  #failure: CompilerUnavailable | undefined;

  constructor(roots: readonly string[]) {
    this.#roots = roots;
  }

  /** @throws CompilerUnavailable without a usable compiler */
  open(): TypeProgram {
    if (this.#failure) throw this.#failure;
    try {
      this.#program ??= new TypeScriptProgram(dirname(this.#roots[0] ?? process.cwd()), this.#roots);
      return this.#program;
    } catch (error) {
      if (error instanceof CompilerUnavailable) this.#failure = error;
      throw error;
    }
  }

  /** The files that the compiler's answers come from. */
  files(): string[] {
    return this.#program?.files() ?? [];
  }

  close(): void {
    this.#program?.close();
    this.#program = undefined;
  }
}

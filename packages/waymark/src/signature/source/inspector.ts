import { Session } from "node:inspector";
import { SignatureError } from "../model/signature-error.ts";

/** V8's position of a function's code. `line` and `column` count from 0. */
export interface ScriptPosition {
  readonly scriptId: string;
  readonly line: number;
  readonly column: number;
}

const HANDOVER: unique symbol = Symbol.for("waymark.functions");

/**
 * A connection to the inspector of the current thread. It answers synchronously, so that no code of the application
 * runs in between.
 */
export class Inspector {
  readonly #session = new Session();

  /** Opens a session for the duration of `use`. */
  static use<Result>(use: (inspector: Inspector) => Result): Result {
    const inspector = new Inspector();
    inspector.#connect();
    try {
      return use(inspector);
    } finally {
      inspector.#session.disconnect();
    }
  }

  /**
   * The positions of functions. A method is at the opening parenthesis of its parameters. A class is at that of its
   * constructor, or at the word `class` if it has none. Undefined for a bound or native function.
   */
  positions(functions: readonly object[]): (ScriptPosition | undefined)[] {
    if (functions.length === 0) return [];
    const holder = globalThis as { [HANDOVER]?: readonly object[] };
    holder[HANDOVER] = functions;
    try {
      const expression = `globalThis[Symbol.for(${JSON.stringify(Symbol.keyFor(HANDOVER))})]`;
      const { result } = this.#ask<{ result: RemoteObject }>("Runtime.evaluate", { expression });
      const { result: items } = this.#properties(result.objectId!);
      return functions.map((_, index) => this.#position(items[index]?.value?.objectId));
    } finally {
      delete holder[HANDOVER];
    }
  }

  /**
   * The URLs of the scripts whose code has run, by their ids: 4 ms with 270 scripts. Reads V8's best-effort coverage,
   * which is always active, so it affects neither code nor another coverage tool.
   */
  urlsOfRunScripts(): Map<string, string> {
    const { result } = this.#ask<{ result: readonly ScriptUrl[] }>("Profiler.getBestEffortCoverage");
    return new Map(result.map(({ scriptId, url }) => [scriptId, url]));
  }

  /** The URLs of all scripts by their ids. V8 hashes every script for it, including Node's own: 20 to 40 ms. */
  urlsOfAllScripts(): Map<string, string> {
    const urls = new Map<string, string>();
    this.#session.on("Debugger.scriptParsed", ({ params }) => urls.set(params.scriptId, params.url));
    this.#ask("Debugger.enable");
    this.#ask("Debugger.disable");
    return urls;
  }

  #connect(): void {
    try {
      this.#session.connect();
    } catch (error) {
      // Under `node --permission` without `--allow-inspector`.
      throw new SignatureError(
        "UNREADABLE_SOURCE",
        `Node's inspector, which locates methods, is not available: ${(error as Error).message} Or build a manifest with \`waymark build\`.`,
      );
    }
  }

  #position(objectId: string | undefined): ScriptPosition | undefined {
    if (objectId === undefined) return undefined;
    const { internalProperties } = this.#properties(objectId);
    const property = internalProperties?.find(({ name }) => name === "[[FunctionLocation]]");
    const location = property?.value?.value as Location | undefined;
    return (
      location && { scriptId: location.scriptId, line: location.lineNumber, column: location.columnNumber }
    );
  }

  #properties(objectId: string): Properties {
    return this.#ask<Properties>("Runtime.getProperties", { objectId, ownProperties: true });
  }

  #ask<Answer>(method: string, parameters: object = {}): Answer {
    let answer: unknown;
    let failure: Error | null = null;
    this.#session.post(method, parameters, (error, result) => {
      failure = error;
      answer = result;
    });
    if (failure) throw failure;
    return answer as Answer;
  }
}

interface RemoteObject {
  readonly objectId?: string;
  readonly value?: unknown;
}

interface Properties {
  readonly result: readonly { readonly value?: RemoteObject }[];
  readonly internalProperties?: readonly { readonly name: string; readonly value?: RemoteObject }[];
}

interface ScriptUrl {
  readonly scriptId: string;
  readonly url: string;
}

interface Location {
  readonly scriptId: string;
  readonly lineNumber: number;
  readonly columnNumber: number;
}

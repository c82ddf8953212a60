import { Session } from "node:inspector";

/** Where V8 has a function's code; `line` and `column` count from 0. */
export interface FunctionPosition {
  readonly url: string;
  readonly line: number;
  readonly column: number;
  /** What the script says of its source map; empty without one. */
  readonly sourceMapUrl: string;
}

interface Script {
  readonly url: string;
  readonly sourceMapURL?: string | undefined;
}

const HANDOVER: unique symbol = Symbol.for("waymark.functions");

/**
 * Asks V8 where functions stand: the opening parenthesis of a method's parameters, and for a class
 * that of its constructor, or the word `class` without one. No answer for a bound or native function.
 * Synchronous, so nothing of the application runs while the session is open.
 */
export const locateFunctions = (functions: readonly object[]): (FunctionPosition | undefined)[] => {
  if (functions.length === 0) return [];
  const scripts = new Map<string, Script>();
  const session = new Session();
  session.connect();
  const holder = globalThis as { [HANDOVER]?: readonly object[] };
  try {
    session.on("Debugger.scriptParsed", ({ params }) => scripts.set(params.scriptId, params));
    ask(session, "Debugger.enable");
    holder[HANDOVER] = functions;
    const expression = `globalThis[Symbol.for(${JSON.stringify(Symbol.keyFor(HANDOVER))})]`;
    const { result } = ask<{ result: RemoteObject }>(session, "Runtime.evaluate", { expression });
    const { result: items } = ask<Properties>(session, "Runtime.getProperties", {
      objectId: result.objectId,
      ownProperties: true,
    });
    return functions.map((_, index) => positionOf(session, items[index]?.value?.objectId, scripts));
  } finally {
    delete holder[HANDOVER];
    session.disconnect();
  }
};

interface RemoteObject {
  readonly objectId?: string;
  readonly value?: unknown;
}

interface Properties {
  readonly result: readonly { readonly value?: RemoteObject }[];
  readonly internalProperties?: readonly { readonly name: string; readonly value?: RemoteObject }[];
}

interface Location {
  readonly scriptId: string;
  readonly lineNumber: number;
  readonly columnNumber: number;
}

const positionOf = (
  session: Session,
  objectId: string | undefined,
  scripts: ReadonlyMap<string, Script>,
): FunctionPosition | undefined => {
  if (objectId === undefined) return undefined;
  const { internalProperties } = ask<Properties>(session, "Runtime.getProperties", {
    objectId,
    ownProperties: true,
  });
  const property = internalProperties?.find(({ name }) => name === "[[FunctionLocation]]");
  const location = property?.value?.value as Location | undefined;
  const script = location && scripts.get(location.scriptId);
  if (!location || !script) return undefined;
  return {
    url: script.url,
    line: location.lineNumber,
    column: location.columnNumber,
    sourceMapUrl: script.sourceMapURL ?? "",
  };
};

/** A session to the own thread answers before `post` returns. */
const ask = <Answer>(session: Session, method: string, parameters: object = {}): Answer => {
  let answer: unknown;
  let failure: Error | null = null;
  session.post(method, parameters, (error, result) => {
    failure = error;
    answer = result;
  });
  if (failure) throw failure;
  return answer as Answer;
};

import { Inspector, type ScriptPosition } from "./inspector.ts";

/** The position of a function's code. `line` and `column` count from 0. */
export interface FunctionPosition {
  readonly url: string;
  readonly line: number;
  readonly column: number;
}

/** Locates functions: V8 returns script, line and column of each. Undefined for a bound or native function. */
export function locateFunctions(functions: readonly object[]): (FunctionPosition | undefined)[] {
  if (functions.length === 0) return [];
  return Inspector.use((inspector) => {
    const positions = inspector.positions(functions);
    const ran = inspector.urlsOfRunScripts();
    const urls = positions.every((position) => !position || ran.has(position.scriptId))
      ? ran
      : inspector.urlsOfAllScripts();
    return positions.map((position) => position && withUrl(position, urls));
  });
}

function withUrl(
  { scriptId, line, column }: ScriptPosition,
  urls: ReadonlyMap<string, string>,
): FunctionPosition | undefined {
  const url = urls.get(scriptId);
  return url === undefined ? undefined : { url, line, column };
}

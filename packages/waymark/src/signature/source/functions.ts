import { Inspector, type ScriptPosition } from "./inspector.ts";

/** Where a function's code stands; `line` and `column` count from 0. */
export interface FunctionPosition {
  readonly url: string;
  readonly line: number;
  readonly column: number;
}

/**
 * Finds where functions stand, in their order: V8 tells script, line and column of each. No answer for a bound or
 * native function.
 */
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

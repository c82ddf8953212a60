import { pathToFileURL } from "node:url";
import { Inspector, type ScriptPosition } from "./inspector.ts";
import type { SourceText } from "./text.ts";

/** Where a function's code stands; `line` and `column` count from 0. */
export interface FunctionPosition {
  readonly url: string;
  readonly line: number;
  readonly column: number;
}

/** What is to be found. */
export interface Wanted {
  /** Methods, which must be found wherever they are. */
  readonly methods: readonly object[];
  /** Classes, which are of interest where they stand in a known file. */
  readonly classes: readonly object[];
  /** The texts of files that were loaded, any of which may be the one. */
  readonly texts: readonly SourceText[];
}

export interface Located {
  readonly methods: (FunctionPosition | undefined)[];
  readonly classes: (FunctionPosition | undefined)[];
}

/**
 * Finds where functions stand. V8 tells script, line and column; the script's file is the one among
 * the known texts that has all its functions at their places, if there is exactly one. Else V8 is
 * asked for the scripts' URLs, which takes longer.
 */
export const locateFunctions = ({ methods, classes, texts }: Wanted): Located => {
  if (methods.length + classes.length === 0) return { methods: [], classes: [] };
  return Inspector.use((inspector) => {
    const functions = [...methods, ...classes];
    const positions = inspector.positions(functions);
    const matched = matchTexts(functions, positions, texts);
    const areFound =
      texts.length > 0 &&
      positions.slice(0, methods.length).every((position) => position && matched.has(position.scriptId));
    const urls = areFound ? matched : inspector.scriptUrls();
    const located = positions.map((position) => {
      const url = position && urls.get(position.scriptId);
      return position && url !== undefined
        ? { url, line: position.line, column: position.column }
        : undefined;
    });
    return { methods: located.slice(0, methods.length), classes: located.slice(methods.length) };
  });
};

/** The URL of each script whose functions are all in one of the texts, and in no other. */
const matchTexts = (
  functions: readonly object[],
  positions: readonly (ScriptPosition | undefined)[],
  texts: readonly SourceText[],
): Map<string, string> => {
  const candidates = new Map<string, readonly SourceText[]>();
  for (const [index, position] of positions.entries()) {
    if (!position) continue;
    const left = candidates.get(position.scriptId) ?? texts;
    if (left.length === 0) continue;
    const code = Function.prototype.toString.call(functions[index]);
    candidates.set(
      position.scriptId,
      left.filter((text) => hasCode(text, position, code)),
    );
  }
  const certain = [...candidates].filter(([, left]) => left.length === 1);
  return new Map(certain.map(([scriptId, [text]]) => [scriptId, pathToFileURL(text!.file).href]));
};

/** Others may come before a function's own: in a computed name, in a class before its constructor. */
const MAXIMUM_PARENTHESES = 50;

/** Whether a text has a function's code, so that V8's position in it is a given one. */
const hasCode = (source: SourceText, { line, column }: ScriptPosition, code: string): boolean => {
  const { text } = source;
  const place = source.offset(line, column);
  if (text[place] !== "(") return isErased(text, place, code);
  let at = code.indexOf("(");
  for (let count = 0; at >= 0 && count < MAXIMUM_PARENTHESES; count++) {
    if (isErased(text, place - at, code)) return true;
    at = code.indexOf("(", at + 1);
  }
  return false;
};

/** Whether code is a part of a text, but for types, which Node turns into spaces without moving the rest. */
const isErased = (text: string, from: number, code: string): boolean => {
  if (from < 0 || from + code.length > text.length) return false;
  for (let at = 0; at < code.length; at++) {
    const own = code.charCodeAt(at);
    if (own !== text.charCodeAt(from + at) && own !== 32 && !/\s/.test(code[at]!)) return false;
  }
  return true;
};

import type { SourceLocation } from "./model.ts";

/** Syntax that Node cannot run from a TypeScript file, and what to write instead. */
export interface ModuleFault {
  readonly location: SourceLocation;
  readonly message: string;
}

/**
 * What in a module's text keeps Node from loading it: enums, parameter properties, decorators,
 * `accessor`, namespaces, imports that lack `type`, plain syntax errors; in the order of the text.
 * For the message of a start that failed, where Node names neither line nor remedy.
 */
export const explainModuleError = (_path: string, _text: string): ModuleFault[] => {
  throw new Error("being written");
};

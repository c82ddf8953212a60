import { StartError } from "../routing/start-error.ts";
import { allClasses, plainSignatures, tableEntry } from "./controller-table.ts";
import type { ApplicationOptions } from "./options.ts";
import type { Gathered } from "./platform.ts";

const REMEDY = 'run "waymark build" with Node, and pass its manifest: new Application({ manifest })';

/** The controllers of the option `controllers`, whose methods take no arguments: nothing reads their types here. */
export function gatherTable(options: ApplicationOptions, notes: string[]): Gathered {
  if (options.controllers === undefined)
    throw new StartError("START_FAILED", `this runtime has no controllers to read: ${REMEDY}`);
  const misfits: string[] = [];
  const root = tableEntry(options.controllers, { notes, misfits });
  if (misfits.length > 0) throw new StartError("INVALID_VERB", misfits.join("\n"));
  const known = new Map([...allClasses([root])].map((found) => [found, plainSignatures(found)]));
  return {
    roots: [root],
    signatureOf(found, verb) {
      const signature = known.get(found)?.get(verb);
      if (signature === undefined)
        throw new StartError(
          "START_FAILED",
          `${found.name}.${verb} has parameters, and this runtime cannot read their types: ${REMEDY}`,
        );
      return signature;
    },
  };
}

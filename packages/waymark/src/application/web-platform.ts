import { formData } from "../http/form-data.ts";
import { manifestEntries } from "../routing/manifest.ts";
import { StartError } from "../routing/start-error.ts";
import { allClasses, plainSignatures, tableEntry } from "./controller-table.ts";
import type { ApplicationOptions } from "./options.ts";
import type { Gathered, Gathering, Platform } from "./platform.ts";

const REMEDY = 'run "waymark build" with Node, and pass its manifest: new Application({ manifest })';

/** A runtime with web interfaces only. It has no sources to read: controllers come from a manifest. */
export const webPlatform: Platform = {
  gather,
  parseMultipart: formData,
  describePackage: () => ({}),
  openViewer() {
    throw new StartError(
      "INVALID_OPTION",
      "only Node serves the page of the OpenAPI document: set page: false",
    );
  },
};

function gather(options: ApplicationOptions, { notes }: Gathering): Gathered {
  if (options.manifest !== undefined) return manifestEntries(options.manifest, notes);
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

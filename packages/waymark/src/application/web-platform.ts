import { formData } from "../http/form-data.ts";
import { manifestEntries } from "../routing/manifest.ts";
import { gatherTable } from "./gather-table.ts";
import { openViewer } from "./no-viewer.ts";
import type { ApplicationOptions } from "./options.ts";
import type { Gathered, Gathering, Platform } from "./platform.ts";

/** A runtime with web interfaces only. It has no sources to read: controllers come from a manifest. */
export const webPlatform: Platform = {
  gather,
  parseMultipart: formData,
  describePackage: () => ({}),
  openViewer,
};

function gather(options: ApplicationOptions, { notes }: Gathering): Gathered {
  return options.manifest === undefined
    ? gatherTable(options, notes)
    : manifestEntries(options.manifest, notes);
}

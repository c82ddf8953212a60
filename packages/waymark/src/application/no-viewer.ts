import { StartError } from "../routing/start-error.ts";

/** A runtime without Node's modules has no files to show the OpenAPI document with. */
export function openViewer(): never {
  throw new StartError(
    "INVALID_OPTION",
    "only Node serves the page of the OpenAPI document: set page: false",
  );
}

/** The kit's application with files of the disk, for runtimes that have one. */
import { Application } from "@tollway/waymark";
import { options } from "./options.ts";

export const application = new Application({ ...options, controllerPrefix: ["controllers", "disk"] });

import { Application } from "@tollway/waymark";
import { options } from "./options.ts";

export const application = new Application(options);

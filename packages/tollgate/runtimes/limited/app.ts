import { Application } from "@tollway/waymark";

export const application = new Application();

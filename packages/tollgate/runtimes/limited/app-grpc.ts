/** With limits over gRPC, for runtimes that have the modules of Node. */
import { Application } from "@tollway/waymark";

export const application = new Application({ controllerPrefix: ["controllers", "grpc"] });

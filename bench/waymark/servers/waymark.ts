import { createServer } from "node:http";
import { fileURLToPath } from "node:url";
import { Application } from "@tollway/waymark";
import { serveForBench } from "./harness.ts";

const application = new Application({
  controllerPrefix: "controllers",
  directory: fileURLToPath(new URL("..", import.meta.url)),
});
await application.ready();
serveForBench(createServer(application.listener));

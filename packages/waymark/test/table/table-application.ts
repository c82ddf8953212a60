import { fileURLToPath } from "node:url";
import { Application } from "@tollway/waymark";

/** The application of the table. Its errors are part of the table, so it does not log them. */
export function tableApplication(): Application {
  return new Application({
    controllerPrefix: "controllers",
    directory: fileURLToPath(new URL("../fixtures/table", import.meta.url)),
    cors: { origins: ["https://app.example"], credentials: true, exposeHeaders: ["x-made"] },
    log: () => undefined,
  });
}

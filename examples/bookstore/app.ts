import { Application, HttpError } from "@tollway/waymark";
import { openServices, services } from "./services.ts";
import { DuplicateBook } from "./store.ts";

export const application = new Application({
  controllerPrefix: "controllers",
  directory: import.meta.dirname,
  cors: { origins: ["https://bookstore.example"] },
  openapi: { title: "Bookstore", version: "1.0.0", page: false },
  multipartLimit: 5 * 1024 * 1024,
  onStart: openServices,
  onStop() {
    services.store.close();
  },
  after(response) {
    response.headers.set("x-content-type-options", "nosniff");
  },
  onError(error) {
    // The store does not know HTTP. This is the one place that maps its errors to statuses.
    if (error instanceof DuplicateBook) throw new HttpError(409, error.message, { code: error.code });
    return undefined;
  },
});

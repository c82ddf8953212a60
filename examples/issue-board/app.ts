import { Application, HttpError } from "@tollway/waymark";
import { compression, etag, secureHeaders } from "@tollway/waymark/kit";
import { PasswordsBusy } from "./passwords.ts";
import { closeServices, openServices, visits } from "./services.ts";
import { BoardFull } from "./store.ts";

export const application = new Application({
  controllerPrefix: "controllers",
  directory: import.meta.dirname,
  openapi: { title: "Issue board", version: "1.0.0", page: false },
  bodyLimit: 100_000,
  use: [secureHeaders(), compression(), etag(), visits],
  onStart: openServices,
  onStop: closeServices,
  onError(error) {
    // The store does not know HTTP. This is the one place that maps its errors to statuses.
    if (error instanceof BoardFull) throw new HttpError(409, error.message, { code: error.code });
    if (error instanceof PasswordsBusy)
      throw new HttpError(503, error.message, { headers: { "retry-after": "1" } });
    return undefined;
  },
});

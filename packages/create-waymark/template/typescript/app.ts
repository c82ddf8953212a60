import { Application } from "@tollway/waymark";
import { accessLog, requestId, secureHeaders } from "@tollway/waymark/kit";

const ids = requestId();
const isProduction = process.env.NODE_ENV === "production";

// Put objects that live as long as the server here, or into a module that this one imports: a reload of controllers keeps them.
export const application = new Application({
  controllerPrefix: "controllers",
  directory: import.meta.dirname,
  openapi: { title: "my-api", page: false },
  // In development, `waymark --watch` writes a log of its own.
  use: [...(isProduction ? [accessLog({ id: ids })] : []), ids, secureHeaders()],
});

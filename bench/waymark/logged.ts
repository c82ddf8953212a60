import { Application } from "@tollway/waymark";
import { accessLog, requestId } from "@tollway/waymark/kit";

const ids = requestId();
export const application = new Application({
  controllerPrefix: "controllers",
  directory: import.meta.dirname,
  use: [accessLog({ id: ids }), ids],
});

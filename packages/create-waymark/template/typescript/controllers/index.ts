import { Controller } from "@tollway/waymark";

/** `/` */
export class Default extends Controller {
  GET() {
    return { name: "my-api", document: "/openapi.json" };
  }
}

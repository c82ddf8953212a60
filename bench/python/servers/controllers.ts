import { Controller } from "@tollway/waymark";

export class Default extends Controller {
  GET() {
    return "Default handler";
  }
}

import { Controller } from "@tollway/waymark";
import { services } from "../services.ts";

export class Default extends Controller {
  /** All authors, with the number of their books. */
  GET(): { author: string; books: number }[] {
    return services.store.authors();
  }
}

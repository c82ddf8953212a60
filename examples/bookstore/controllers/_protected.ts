import { Controller } from "@tollway/waymark";
import { bearer, sameSecret } from "@tollway/waymark/kit";
import { services } from "../services.ts";

const tokens = bearer({
  verify: async (token) => services.token !== "" && (await sameSecret(token, services.token)),
});

/** Reading is public. Other methods require a token, which is checked before the body is read. */
export abstract class Protected extends Controller {
  static override guard = { GET: "public", POST: tokens, PUT: tokens, DELETE: tokens } as const;
}

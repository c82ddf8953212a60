import { Controller } from "@tollway/waymark";
import { members } from "../services.ts";
import type { User } from "../store.ts";

/** Everybody may read. Everything else needs a user. */
export abstract class Member extends Controller {
  static override guard = { GET: "public", POST: members, PATCH: members } as const;

  /** The user who sent the request, in a method that needs a user. */
  get user(): User {
    return members.of(this);
  }
}

import { Controller } from "@tollway/waymark";
import { members } from "../services.ts";
import type { User } from "../store.ts";

const SAFE = new Set(["GET", "HEAD"]);

/** Everybody may read. Everything else needs a user. */
export abstract class Member extends Controller {
  override async before() {
    if (!SAFE.has(this.method)) await members(this);
  }

  /** Who sent the request, in a method that needs a user. */
  get user(): User {
    return members.of(this);
  }
}

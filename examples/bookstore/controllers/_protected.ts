import { createHash, timingSafeEqual } from "node:crypto";
import { Controller, HttpError } from "@tollway/waymark";
import { services } from "../services.ts";

const SAFE = new Set(["GET", "HEAD"]);

/** Anybody may read; who changes something shows a token, and does so before anything of the request is read. */
export abstract class Protected extends Controller {
  override before() {
    if (SAFE.has(this.request.method)) return;
    const given = this.headers.get("authorization")?.match(/^Bearer (.+)$/)?.[1];
    if (services.token === "" || given === undefined || !same(given, services.token)) {
      throw new HttpError(401, "this needs a token", { headers: { "www-authenticate": "Bearer" } });
    }
  }
}

/** Takes as long for a token that is nearly right as for one that is wholly wrong. */
function same(one: string, other: string): boolean {
  const hash = (text: string) => createHash("sha256").update(text).digest();
  return timingSafeEqual(hash(one), hash(other));
}

import { createHash, timingSafeEqual } from "node:crypto";
import { Controller, HttpError } from "@tollway/waymark";
import { services } from "../services.ts";

const SAFE = new Set(["GET", "HEAD"]);

/** Reading is public. Other methods require a token, which is checked before the body is read. */
export abstract class Protected extends Controller {
  override before() {
    if (SAFE.has(this.request.method)) return;
    const given = this.headers.get("authorization")?.match(/^Bearer (.+)$/)?.[1];
    if (services.token === "" || given === undefined || !same(given, services.token)) {
      throw new HttpError(401, "this needs a token", { headers: { "www-authenticate": "Bearer" } });
    }
  }
}

/** Compares in constant time, so that the time does not reveal how much of a token is right. */
function same(one: string, other: string): boolean {
  const hash = (text: string) => createHash("sha256").update(text).digest();
  return timingSafeEqual(hash(one), hash(other));
}

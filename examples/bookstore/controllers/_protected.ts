import { Controller, HttpError } from "@tollway/waymark";
import { services } from "../services.ts";

const SAFE = new Set(["GET", "HEAD"]);

/** Reading is public. Other methods require a token, which is checked before the body is read. */
export abstract class Protected extends Controller {
  override async before() {
    if (SAFE.has(this.method)) return;
    const given = this.headers.get("authorization")?.match(/^Bearer (.+)$/)?.[1];
    if (services.token === "" || given === undefined || !(await isSame(given, services.token))) {
      throw new HttpError(401, "this needs a token", { headers: { "www-authenticate": "Bearer" } });
    }
  }
}

/** Compares hashes in constant time, so that the time does not reveal how much of a token is right. */
async function isSame(one: string, other: string): Promise<boolean> {
  const [first, second] = await Promise.all([hashOf(one), hashOf(other)]);
  let difference = 0;
  for (const [at, byte] of first.entries()) difference |= byte ^ second[at]!;
  return difference === 0;
}

async function hashOf(text: string): Promise<Uint8Array> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text)));
}

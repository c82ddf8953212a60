import { Controller, type Problem, problem } from "@tollway/waymark";
import { attachment as download } from "@tollway/waymark/kit";
import { services } from "../services.ts";
import type { Id } from "./_issues.ts";

/** `/attachment/{id}` */
export class Default extends Controller {
  /** The file, piece by piece. It is always saved, never shown: it may be a page with scripts. */
  GET(id: Id): Generator<Uint8Array> | Problem<404, { code: "NO_ATTACHMENT" }> {
    const { store } = services();
    const found = store.attachment(id);
    if (found === undefined) return problem(404, `there is no attachment ${id}`, { code: "NO_ATTACHMENT" });
    const { headers } = this.response;
    headers.set("content-type", found.type);
    headers.set("content-length", String(found.size));
    headers.set("content-disposition", download(found.name));
    headers.set("content-security-policy", "sandbox; default-src 'none'");
    headers.set("cache-control", "private, max-age=31536000, immutable");
    return store.pieces(id);
  }
}

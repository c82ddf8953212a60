import { Controller } from "@tollway/waymark";
import { HTML, SCRIPT_HASH, STYLE_HASH } from "../gen/page.ts";

const POLICY = [
  "default-src 'none'",
  `script-src '${SCRIPT_HASH}'`,
  `style-src '${STYLE_HASH}'`,
  "img-src data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

/** `/` */
export class Default extends Controller {
  /** The page of the board. */
  GET(): string {
    const { headers } = this.response;
    headers.set("content-type", "text/html; charset=utf-8");
    headers.set("content-security-policy", POLICY);
    headers.set("cache-control", "no-cache");
    return HTML;
  }
}

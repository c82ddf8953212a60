/**
 * The value of `content-disposition` with which a browser saves an answer under a name, whatever characters it has
 * (RFC 6266): a plain name for old clients, and the real one in UTF-8.
 * @example
 * ```ts
 * import { Controller } from "@tollway/waymark";
 * import { attachment } from "@tollway/waymark/kit";
 *
 * export class Report extends Controller {
 *   GET() {
 *     this.response.headers.set("content-disposition", attachment("Bericht für Mai.csv"));
 *     this.response.headers.set("content-type", "text/csv");
 *     return "day,visits";
 *   }
 * }
 * ```
 */
export function attachment(name: string): string {
  const plain = name.replace(/[^ !#$&+\-.0-9A-Z^_`a-z{}~]/g, "_");
  const encoded = encodeURIComponent(name.toWellFormed()).replace(
    /['()*]/g,
    (each) => `%${each.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `attachment; filename="${plain}"; filename*=UTF-8''${encoded}`;
}

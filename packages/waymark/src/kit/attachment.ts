/**
 * The value of `content-disposition` with which a browser saves an answer under a name, whatever characters it has
 * (RFC 6266): a plain name for old clients, and the real one in UTF-8.
 */
export function attachment(name: string): string {
  const plain = name.replace(/[^ !#$&+\-.0-9A-Z^_`a-z{}~]/g, "_");
  const encoded = encodeURIComponent(name.toWellFormed()).replace(
    /['()*]/g,
    (each) => `%${each.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `attachment; filename="${plain}"; filename*=UTF-8''${encoded}`;
}

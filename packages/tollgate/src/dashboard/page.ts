/** The page at `/`. */
export interface HtmlPage {
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** The page for a browser; undefined if `Accept` does not name HTML. Loads it on demand: most processes never show it. */
export async function pageFor(accept: string | null): Promise<HtmlPage | undefined> {
  if (!wantsPage(accept)) return undefined;
  const { HTML, SCRIPT_HASH, STYLE_HASH } = await import("./gen/page.ts");
  return {
    body: HTML,
    headers: {
      "content-type": "text/html; charset=utf-8",
      "cache-control": "no-cache",
      "content-security-policy": [
        "default-src 'none'",
        `script-src '${SCRIPT_HASH}'`,
        `style-src '${STYLE_HASH}'`,
        "connect-src 'self'",
        "img-src data:",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
        "trusted-types 'none'",
      ].join("; "),
      "referrer-policy": "no-referrer",
      "x-frame-options": "DENY",
      "cross-origin-opener-policy": "same-origin",
      "cross-origin-resource-policy": "same-origin",
    },
  };
}

/** Whether `Accept` names HTML, as that of browsers does. `*` alone, as of curl, does not. */
function wantsPage(accept: string | null): boolean {
  return (accept ?? "").split(",").some((range) => {
    const [type, ...parameters] = range.split(";").map((part) => part.trim().toLowerCase());
    return type === "text/html" && !parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter));
  });
}

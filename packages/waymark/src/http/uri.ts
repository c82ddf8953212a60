/** Characters of a URI reference, including the `%` of escapes (RFC 3986 section 2). */
const ALLOWED = /^[\w.~!$&'()*+,;=:@/?#[\]%-]*$/;

/**
 * A URI reference that a header can carry. Converts the host name with IDNA. Percent-encodes all other characters
 * that a URI does not allow as UTF-8, including line ends and backslashes. Keeps existing escapes.
 */
export function uriReference(text: string): string {
  if (ALLOWED.test(text)) return text;
  const [, scheme, host = "", rest = ""] = /^((?:https?:)?\/\/)([^/?#]*)([\s\S]*)$/i.exec(text) ?? [];
  return scheme === undefined ? encoded(text) : scheme + hostOf(host) + encoded(rest);
}

function hostOf(text: string): string {
  if (ALLOWED.test(text)) return text;
  // A text with user information is not a host.
  return text.includes("@") ? encoded(text) : (URL.parse(`http://${text}`)?.host ?? encoded(text));
}

function encoded(text: string): string {
  let result = "";
  for (const character of text) {
    if (ALLOWED.test(character)) result += character;
    else
      for (const byte of new TextEncoder().encode(character))
        result += `%${byte.toString(16).toUpperCase().padStart(2, "0")}`;
  }
  return result;
}

import { Buffer } from "node:buffer";

/** What may be in a URI reference, `%` of its escapes included (RFC 3986 section 2). */
const ALLOWED = /^[\w.~!$&'()*+,;=:@/?#[\]%-]*$/;

/**
 * A reference to a resource as a header can carry it. The host's name goes through IDNA; everything else that a URI
 * cannot hold is percent-encoded as UTF-8, line ends and backslashes included. What is encoded already stays.
 */
export function uriReference(text: string): string {
  if (ALLOWED.test(text)) return text;
  const [, scheme, host = "", rest = ""] = /^((?:https?:)?\/\/)([^/?#]*)([\s\S]*)$/i.exec(text) ?? [];
  return scheme === undefined ? encoded(text) : scheme + hostOf(host) + encoded(rest);
}

function hostOf(text: string): string {
  if (ALLOWED.test(text)) return text;
  // With user information in it the text is no host.
  return text.includes("@") ? encoded(text) : (URL.parse(`http://${text}`)?.host ?? encoded(text));
}

function encoded(text: string): string {
  let result = "";
  for (const character of text) {
    if (ALLOWED.test(character)) result += character;
    else
      for (const byte of Buffer.from(character))
        result += `%${byte.toString(16).toUpperCase().padStart(2, "0")}`;
  }
  return result;
}

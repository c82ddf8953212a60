/** Custom metadata as it travels in headers (grpc/doc/PROTOCOL-HTTP2.md, "Custom-Metadata"). */

/** HTTP's own names, and those that HTTP/2 forbids (RFC 9113 section 8.2.2). */
const reserved = new Set([
  ...["content-type", "te", "user-agent", "host", "content-length"],
  ...["connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade"],
]);
const namePattern = /^[0-9a-z_.-]+$/;
const valuePattern = /^(?:[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?)?$/;

/** Turns one response metadata entry into a header field. Throws a `TypeError` that says what does not fit. */
export function metadataField(name: string, value: string | Uint8Array): [name: string, value: string] {
  if (!namePattern.test(name) || name.startsWith("grpc-") || reserved.has(name))
    throw new TypeError(
      `metadata name ${JSON.stringify(name)}: use lower-case letters, digits, "_", "-" and ".", and none of gRPC's own`,
    );
  if (name.endsWith("-bin")) {
    if (typeof value === "string")
      throw new TypeError(`metadata ${name}: a -bin name takes bytes, not a string`);
    return [name, Buffer.from(value).toString("base64").replaceAll("=", "")];
  }
  if (typeof value !== "string") throw new TypeError(`metadata ${name}: bytes need a name that ends in -bin`);
  if (!valuePattern.test(value))
    throw new TypeError(`metadata ${name}: the value must be printable ASCII without blanks at its ends`);
  return [name, value];
}

/** Bytes of a `-bin` value; several values may share one field, joined by commas: this reads the first. */
export function decodeBinary(value: string): Uint8Array {
  const comma = value.indexOf(",");
  return Buffer.from(comma < 0 ? value : value.slice(0, comma), "base64");
}

/**
 * `grpc-message`: UTF-8 with everything outside printable ASCII, and `%`, percent-encoded. Cut at 1,024
 * characters, so that a status always fits where a header list is bounded.
 */
export function encodeStatusMessage(message: string): string {
  const text = message.length > 1024 ? `${message.slice(0, 1024).toWellFormed()}...` : message;
  if (/^[\x20-\x24\x26-\x7e]*$/.test(text)) return text.trim() === text ? text : percentEncode(text);
  return percentEncode(text);
}

function percentEncode(text: string): string {
  let result = "";
  for (const octet of Buffer.from(text, "utf8")) {
    result +=
      octet > 0x20 && octet < 0x7f && octet !== 0x25
        ? String.fromCharCode(octet)
        : `%${octet.toString(16).toUpperCase().padStart(2, "0")}`;
  }
  return result;
}

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
      `metadata name ${JSON.stringify(name)}: use lower-case letters, digits, "_", "-" and ".", and no name that gRPC or HTTP uses itself`,
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

/** Characters of a status message that travel; fewer where each takes up to 9 octets. */
const LONGEST_MESSAGE = 1024;
const LONGEST_ENCODED = 4096;

/**
 * `grpc-message`: UTF-8 with everything outside printable ASCII, and `%`, percent-encoded. Cut, because peers
 * bound their header lists: some clients allow 8 KiB.
 */
export function encodeStatusMessage(message: string): string {
  const encoded = encodeText(cutTo(message, LONGEST_MESSAGE));
  return encoded.length <= LONGEST_ENCODED ? encoded : encodeText(cutTo(message, LONGEST_ENCODED / 10));
}

function cutTo(text: string, length: number): string {
  return text.length > length ? `${text.slice(0, length).toWellFormed()}...` : text;
}

function encodeText(text: string): string {
  return /^[\x20-\x24\x26-\x7e]*$/.test(text) && text.trim() === text ? text : percentEncode(text);
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

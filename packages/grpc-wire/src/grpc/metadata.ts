/** The encoding of custom metadata in headers (grpc/doc/PROTOCOL-HTTP2.md, "Custom-Metadata"). */

/** Names that HTTP uses, and names that HTTP/2 forbids (RFC 9113 section 8.2.2). */
const RESERVED = new Set([
  ...["content-type", "te", "user-agent", "host", "content-length"],
  ...["connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade"],
]);
const NAME = /^[0-9a-z_.-]+$/;
const VALUE = /^(?:[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?)?$/;

/** Returns the header field of one entry of response metadata. Throws a `TypeError` for an invalid name or value. */
export function metadataField(name: string, value: string | Uint8Array): [name: string, value: string] {
  if (!NAME.test(name) || name.startsWith("grpc-") || RESERVED.has(name))
    throw new TypeError(
      `metadata name ${JSON.stringify(name)}: use lower-case letters, digits, "_", "-" and ".", and no name that gRPC or HTTP reserves`,
    );
  if (name.endsWith("-bin")) {
    if (typeof value === "string")
      throw new TypeError(`metadata ${name}: a -bin name takes bytes, not a string`);
    return [name, Buffer.from(value).toString("base64").replaceAll("=", "")];
  }
  if (typeof value !== "string") throw new TypeError(`metadata ${name}: bytes need a name that ends in -bin`);
  if (!VALUE.test(value))
    throw new TypeError(`metadata ${name}: the value must be printable ASCII without spaces at its ends`);
  return [name, value];
}

/** Decodes a `-bin` value. If the field has several values, separated by commas, returns the first. */
export function decodeBinary(value: string): Uint8Array {
  const comma = value.indexOf(",");
  return Buffer.from(comma < 0 ? value : value.slice(0, comma), "base64");
}

/** The length limits of a status message, in characters and once percent-encoded. */
const LONGEST_MESSAGE = 1024;
const LONGEST_ENCODED = 4096;

/**
 * Returns the value of `grpc-message`: UTF-8 with `%` and all octets outside printable ASCII percent-encoded. Truncates long
 * messages, because clients limit their header lists, some to 8 KiB.
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

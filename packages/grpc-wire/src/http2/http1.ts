const TEXT = "This server speaks gRPC over HTTP/2.\n";

/** The response to an HTTP/1.1 request. */
export const HTTP1_REFUSAL = Buffer.from(
  `HTTP/1.1 505 HTTP Version Not Supported\r\ncontent-type: text/plain\r\ncontent-length: ${TEXT.length}\r\nconnection: close\r\n\r\n${TEXT}`,
  "latin1",
);

/** Whether a connection begins with an HTTP/1 request. */
export function isHttp1(received: Buffer): boolean {
  return /^[A-Z]{3,7} \S* HTTP\/1\./.test(received.toString("latin1", 0, 1024));
}

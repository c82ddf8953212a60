/** The answer to an HTTP/1.1 client. */
const http1Text = "This server speaks gRPC over HTTP/2.\n";
export const http1Refusal = Buffer.from(
  `HTTP/1.1 505 HTTP Version Not Supported\r\ncontent-type: text/plain\r\ncontent-length: ${http1Text.length}\r\nconnection: close\r\n\r\n${http1Text}`,
  "latin1",
);

/** Whether a connection's first bytes are an HTTP/1 request. */
export function isHttp1(received: Buffer): boolean {
  return /^[A-Z]{3,7} \S* HTTP\/1\./.test(received.toString("latin1", 0, 1024));
}

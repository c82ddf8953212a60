import { createServer } from "node:net";
import { showAddress } from "../../text/address.ts";

/** Rejects if another process uses the port, also with SO_REUSEPORT. */
export function probePort(host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.on("error", (error) => {
      reject(
        new Error(`cannot listen for gRPC on ${showAddress(host, port)}: ${error.message}`, { cause: error }),
      );
    });
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve()));
  });
}

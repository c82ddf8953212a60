import type { Server } from "node:http";
import type { AddressInfo } from "node:net";

/** Listens on a free port of the loopback interface with the timeouts of Waymark's server, and prints the address. */
export function serveForBench(server: Server): void {
  server.headersTimeout = 20_000;
  server.requestTimeout = 120_000;
  server.keepAliveTimeout = 65_000;
  server.listen(0, "127.0.0.1", () => printAddress(server));
}

/** Prints the address of a listening server. */
export function printAddress(server: Server): void {
  console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
}

import type { Server } from "node:http";
import type { AddressInfo } from "node:net";

/** Listens on a free port of loopback, tells it to the bench, and answers its questions for the CPU used so far. */
export function serveForBench(server: Server): void {
  if (server.listening) tell();
  else if (server.address() === null) server.listen(0, "127.0.0.1", tell);
  function tell(): void {
    process.send?.({ port: (server.address() as AddressInfo).port });
  }
  process.on("message", () => process.send?.({ cpu: process.cpuUsage() }));
  process.on("disconnect", () => process.exit(0));
}

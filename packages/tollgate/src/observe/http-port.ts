import type { AddressInfo } from "node:net";
import type { HttpServerOptions, RunningServer } from "@tollway/waymark/server";
import { showAddress } from "../text/address.ts";
import type { Logger } from "./log.ts";

export interface HttpPortOptions {
  /** The name in messages: `HTTP`, `debug`, `metrics`. */
  readonly name: string;
  /** Undefined: all addresses. */
  readonly host: string | undefined;
  /** 0 picks a free port. */
  readonly port: number;
  readonly log: Logger;
}

export interface HttpPort {
  readonly running: RunningServer;
  /** The bound address, `0.0.0.0:8080`. */
  readonly address: string;
}

/**
 * Opens an HTTP port of the service with Waymark's server.
 * @param start passes the given options, and the port's own limits, to `startServer` or `startHttpServer`
 * @throws if the port cannot be bound; the message names the listener, the address and the reason
 */
export async function openHttpPort(
  { name, host, port, log }: HttpPortOptions,
  start: (options: HttpServerOptions) => Promise<RunningServer>,
): Promise<HttpPort> {
  let running: RunningServer;
  try {
    running = await start({
      host,
      port,
      backlog: 1024,
      log: (message) => log.error(`${name} listener: ${message}`),
    });
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error);
    const address = showAddress(host ?? "", port);
    throw new Error(`cannot listen for ${name} on ${address}: ${problem}`, { cause: error });
  }
  const bound = running.server.address() as AddressInfo;
  return { running, address: showAddress(bound.address, bound.port) };
}

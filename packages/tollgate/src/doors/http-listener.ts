import { createServer, METHODS, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { Application, type ApplicationOptions } from "@tollway/waymark";
import type { Logger } from "../observe/log.ts";
import { showAddress } from "./address.ts";

/** Waymark controllers by name, as an application is given them. */
export type ControllerTable = NonNullable<ApplicationOptions["controllers"]>;

/** An HTTP port with Waymark controllers behind it. */
export interface HttpDoor {
  /** What was bound, `0.0.0.0:8080`. */
  readonly address: string;
  /** Ends each connection with its next answer: callers find another instance, and none is cut off between two calls. */
  drain(): void;
  /** Stops accepting, lets answers under way finish for at most `timeout` milliseconds, then cuts them. */
  close(timeout: number): Promise<void>;
}

export interface HttpDoorOptions {
  /** In error messages: `HTTP`, `debug`. */
  readonly name: string;
  readonly host: string;
  /** 0 picks a free one. */
  readonly port: number;
  readonly controllers: ControllerTable;
  readonly log: Logger;
}

/** Binds and serves. Rejects where the port cannot be had. */
export async function openHttpDoor(options: HttpDoorOptions): Promise<HttpDoor> {
  const { name, host, port, controllers, log } = options;
  const application = new Application({
    controllers,
    unknownKeywords: "ignore",
    knownMethods: METHODS,
    log: (error, { method, target }) => log.error(`${method} ${target.slice(0, 200)}: ${String(error)}`),
    warn: (message) => log.warn(message),
  });
  await application.ready();
  const { listener } = application;
  let draining = false;
  const server = createServer(
    // A caller that is slow to send its request, or sends none, does not hold a connection for ever.
    { headersTimeout: 10_000, requestTimeout: 30_000, keepAliveTimeout: 75_000, maxHeaderSize: 16_384 },
    (request, response) => {
      if (draining) response.shouldKeepAlive = false;
      listener(request, response);
    },
  );
  server.maxConnections = 10_000;
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error) =>
      reject(
        new Error(`cannot listen for ${name} on ${showAddress(host, port)}: ${error.message}`, {
          cause: error,
        }),
      ),
    );
    server.listen({ host, port, backlog: 1024 }, resolve);
  });
  const bound = server.address() as AddressInfo;
  return {
    address: showAddress(bound.address, bound.port),
    drain: () => {
      draining = true;
    },
    close: async (timeout) => {
      await closeServer(server, timeout);
      await application.stop();
    },
  };
}

function closeServer(server: Server, timeout: number): Promise<void> {
  return new Promise((resolve) => {
    const cut = setTimeout(() => server.closeAllConnections(), timeout);
    server.close(() => {
      clearTimeout(cut);
      resolve();
    });
    server.closeIdleConnections();
  });
}

/** The public entry `@tollway/waymark/server`: serves an application from a program. */
export type { RunningServer, ServedApplication, ServerOptions } from "./serve/node/node-server.ts";
export { startServer } from "./serve/node/node-server.ts";

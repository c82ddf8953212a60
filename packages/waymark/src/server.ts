/** The public entry `@tollway/waymark/server`: serves an application, or a listener of `node:http`, from a program. */

export type { Lifecycle, RequestHandler } from "./serve/handler.ts";
export type { Running, Start } from "./serve/main.ts";
export { main } from "./serve/main.ts";
export type { HttpServerOptions, Intake, RunningServer } from "./serve/node/http-server.ts";
export { startHttpServer } from "./serve/node/http-server.ts";
export type { NodeAdapterOptions, NodeListener } from "./serve/node/node-adapter.ts";
export { nodeListener } from "./serve/node/node-adapter.ts";
export type { ServedApplication, ServerOptions } from "./serve/node/node-server.ts";
export { startServer } from "./serve/node/node-server.ts";

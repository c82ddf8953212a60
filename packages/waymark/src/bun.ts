/** `@tollway/waymark/bun`: serves an application with `Bun.serve`. */
export { serve } from "./serve/bun/bun-server.ts";
export { main } from "./serve/main.ts";
export type { WebApplication, WebServer, WebServerOptions } from "./serve/web-server.ts";

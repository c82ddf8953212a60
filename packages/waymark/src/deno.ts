/** `@tollway/waymark/deno`: serves an application with `Deno.serve`. */
export { serve } from "./serve/deno/deno-server.ts";
export { main } from "./serve/main.ts";
export type { WebApplication, WebServer, WebServerOptions } from "./serve/web-server.ts";

/** `@tollway/waymark/worker`: an application as the module of a Cloudflare worker. */
export type { Worker, WorkerContext } from "./serve/worker/worker.ts";
export { worker } from "./serve/worker/worker.ts";

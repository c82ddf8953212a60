/** A worker that runs the checks of the client against the server at the address in the query. */
import { runAll } from "./client.program.ts";

// biome-ignore lint/style/noDefaultExport: a worker's module has one. Bun would serve it, so the program is another file.
export default {
  fetch: async ({ url }: Request) => Response.json(await runAll(new URL(url).searchParams.get("url")!)),
};

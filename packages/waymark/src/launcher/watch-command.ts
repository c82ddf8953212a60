import { dirname, resolve } from "node:path";
import type { Arguments } from "./arguments.ts";
import { listenFault, parseHost } from "./listen-address.ts";
import { controllerFolders } from "./watch/folders.ts";
import { KeptPort } from "./watch/kept-port.ts";
import { watch } from "./watch/watcher.ts";

/** Serves in a process that follows changes. Resolves with the exit status. */
export async function serveWatched(args: Arguments): Promise<number> {
  // Several workers open the port themselves.
  const port = args.workers === 1 ? await openPort(args.host) : undefined;
  return watch(port, likelyFolders(args));
}

async function openPort(host: string): Promise<KeptPort> {
  try {
    return await KeptPort.open(parseHost(host));
  } catch (error) {
    throw listenFault(error as NodeJS.ErrnoException, host);
  }
}

/** The folders in which a change can end a failed start, before the watched process has told its own. */
function likelyFolders({ app, manifest, prefix, dir }: Arguments): string[] {
  const file = app ?? manifest;
  if (file !== undefined) return [dirname(resolve(dir, file))];
  return controllerFolders({ ...(prefix.length > 0 && { controllerPrefix: prefix }), directory: dir });
}

/** Binds listeners, and replaces stale unix sockets. */
import { chmod, lstat, rename, unlink } from "node:fs/promises";
import { createConnection, type Server } from "node:net";
import type { BoundAddress, ListenOptions } from "../types.ts";

/** Binds `server`. Rejects with the system's error when the address cannot be bound. */
export async function bind(server: Server, where: ListenOptions): Promise<BoundAddress> {
  if (!("path" in where)) {
    await listening(server, { host: "127.0.0.1", ...where });
    const bound = server.address();
    if (bound === null || typeof bound === "string")
      throw new Error("listen: the listener was closed while it was bound");
    return { kind: "tcp", host: bound.address, port: bound.port };
  }
  try {
    await listening(server, { path: where.path });
  } catch (error) {
    if (!isInUse(error) || !(await removeStale(where.path))) throw error;
    await listening(server, { path: where.path });
  }
  if (where.mode !== undefined) await chmod(where.path, where.mode);
  return { kind: "unix", path: where.path };
}

function listening(server: Server, where: ListenOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    // A server that is closed during the DNS lookup does not emit `listening`.
    const onClose = () => reject(new Error("listen: the listener was closed before it was bound"));
    server.once("error", reject).once("close", onClose);
    server.listen(where, () => {
      server.off("error", reject).off("close", onClose);
      resolve();
    });
  });
}

function isInUse(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "EADDRINUSE";
}

/**
 * Removes the socket file of a killed process. First renames the file and connects again: if another server has bound the
 * path in the meantime, restores its file.
 */
async function removeStale(path: string): Promise<boolean> {
  try {
    if (!(await lstat(path)).isSocket() || (await isAnswered(path))) return false;
    const aside = `${path}.${process.pid}.stale`;
    await rename(path, aside);
    if (await isAnswered(aside)) {
      await rename(aside, path);
      return false;
    }
    await unlink(aside);
    return true;
  } catch {
    // The file is gone, or cannot be changed. The caller then throws the error of the failed bind.
    return false;
  }
}

/** Resolves to false only for ECONNREFUSED: no process listens. */
function isAnswered(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection({ path });
    socket.once("connect", () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", (error: NodeJS.ErrnoException) => resolve(error.code !== "ECONNREFUSED"));
  });
}

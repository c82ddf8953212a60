import { lstat, unlink } from "node:fs/promises";
import { connect } from "node:net";

/**
 * Removes a unix socket that a process has left behind which did not end cleanly. One that somebody listens on, and
 * whatever is no socket, stays.
 * @returns whether it was removed
 */
export async function removeStaleSocket(path: string): Promise<boolean> {
  const found = await lstat(path).catch(() => undefined);
  if (found?.isSocket() !== true || !(await refuses(path))) return false;
  await unlink(path);
  return true;
}

/** Whether nobody listens: a full backlog, or one that we may not speak to, is somebody. */
function refuses(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path);
    socket.once("connect", () => {
      socket.destroy();
      resolve(false);
    });
    socket.once("error", (error: NodeJS.ErrnoException) => resolve(error.code === "ECONNREFUSED"));
  });
}

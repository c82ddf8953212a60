import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";

/**
 * Cuts the connection where the client takes nothing of an answer that has been ended: the idle timer of the socket
 * starts again with every byte taken.
 */
export function cutIfStalled(response: ServerResponse, sendTimeout: number): void {
  if (sendTimeout === 0 || response.writableFinished || response.destroyed) return;
  const { socket } = response;
  if (socket !== null) watch(response, socket, sendTimeout);
  // Behind another answer of its connection it has no socket yet.
  else response.once("socket", (given: Socket) => watch(response, given, sendTimeout));
}

function watch(response: ServerResponse, socket: Socket, sendTimeout: number): void {
  const cut = () => response.destroy();
  const stop = () => {
    socket.setTimeout(0);
    socket.off("timeout", cut);
    response.off("finish", stop);
    response.off("close", stop);
  };
  socket.setTimeout(sendTimeout, cut);
  // Ahead of Node's own listener, which sets the timer for the time between two requests.
  response.prependListener("finish", stop);
  response.on("close", stop);
}

import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";

/**
 * Destroys the connection if the client stops reading an ended answer. The socket's idle timer restarts with every
 * byte that the client accepts.
 */
export function cutIfStalled(response: ServerResponse, sendTimeout: number): void {
  // `writableFinished` is false until the next tick, even if the socket has taken all bytes. Watching such an answer
  // costs 1 of 10 µs.
  if (sendTimeout === 0 || response.writableLength === 0 || response.destroyed) return;
  const { socket } = response;
  if (socket !== null) watch(response, socket, sendTimeout);
  // A pipelined answer has no socket until the previous answer is complete.
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
  // Runs before Node's own listener, which sets the timer for the time between two requests.
  response.prependListener("finish", stop);
  response.on("close", stop);
}

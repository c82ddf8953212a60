import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { after } from "node:test";

/** A connection that closes when the tests end. */
export async function open(port: number): Promise<Socket> {
  const socket = connect(port, "127.0.0.1");
  socket.on("error", () => undefined);
  after(() => socket.destroy());
  await once(socket, "connect");
  return socket;
}

/** All bytes until the other side closes. */
export async function all(socket: Socket): Promise<string> {
  let text = "";
  socket.on("data", (piece) => {
    text += piece.toString("latin1");
  });
  await new Promise((resolve) => socket.once("close", resolve));
  return text;
}

/** Sends bytes on a new connection and reads to its end. */
export async function exchange(port: number, request: string): Promise<string> {
  const socket = await open(port);
  const text = all(socket);
  socket.write(request);
  return text;
}

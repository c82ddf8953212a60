import type { Socket } from "node:net";
import type { Lifecycle, RequestHandler } from "../handler.ts";
import { BridgeConnection } from "./connection.ts";
import { PROTOCOL } from "./frames.ts";
import { Lifeline } from "./lifeline.ts";

/** Messages on Node's channel to its parent, as lines of JSON. */
type ToPython =
  | { readonly ready: true; readonly protocol: number; readonly pid: number }
  | { readonly failed: string }
  | { readonly stopped: true; readonly failed?: string };

/** True in a process that the Python package started. */
export function isBridge(lifeline: string | undefined): lifeline is string {
  return process.send !== undefined && lifeline !== undefined && /^\d+$/.test(lifeline);
}

/**
 * Serves an application to the Python process that started this one, until it sends "stop" or exits. `start` makes
 * the application ready. `explain` formats its error. Resolves with the exit status.
 */
export async function serveBridge(
  lifeline: string,
  start: () => Promise<RequestHandler & Lifecycle>,
  explain: (error: unknown) => string,
): Promise<number> {
  // These signals are meant for the Python server. This process must still finish its answers.
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => undefined);
  const watched = new Lifeline(Number(lifeline));
  const stopped = Promise.withResolvers<void>();
  process.once("disconnect", stopped.resolve);
  const waiting: Socket[] = [];
  let connect = (socket: Socket): void => void waiting.push(socket);
  process.on("message", (message: unknown, socket?: unknown) => {
    if (message === "connection" && socket !== undefined) connect(socket as Socket);
    else if (message === "stop") stopped.resolve();
  });
  let application: RequestHandler & Lifecycle;
  try {
    application = await start();
  } catch (error) {
    watched.stopping();
    await tell({ failed: explain(error) });
    return 1;
  }
  connect = (socket) => void new BridgeConnection(application, socket);
  for (const socket of waiting) connect(socket);
  await tell({ ready: true, protocol: PROTOCOL, pid: process.pid });
  await stopped.promise;
  watched.stopping();
  try {
    await application.stop();
    await tell({ stopped: true });
    return 0;
  } catch (error) {
    await tell({ stopped: true, failed: explain(error) });
    return 1;
  }
}

/** Resolves once the message is written, or cannot be written. */
function tell(message: ToPython): Promise<void> {
  return new Promise((resolve) => {
    if (process.connected) process.send!(message, () => resolve());
    else resolve();
  });
}

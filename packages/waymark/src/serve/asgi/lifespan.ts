import type { Lifecycle } from "../handler.ts";
import type { AsgiReceive, AsgiSend } from "./asgi-types.ts";

/** The ASGI lifespan protocol: `onStart` before the first request, `onStop` after the last. */
export async function serveLifespan(
  application: Lifecycle,
  receive: AsgiReceive,
  send: AsgiSend,
): Promise<void> {
  for (;;) {
    const { type } = await receive();
    if (type === "lifespan.startup") {
      try {
        await application.ready();
      } catch (error) {
        return send({ type: "lifespan.startup.failed", message: messageOf(error) });
      }
      await send({ type: "lifespan.startup.complete" });
    } else if (type === "lifespan.shutdown") {
      try {
        await application.stop();
      } catch (error) {
        return send({ type: "lifespan.shutdown.failed", message: messageOf(error) });
      }
      return send({ type: "lifespan.shutdown.complete" });
    } else throw new TypeError(`${type} is not an event of the ASGI lifespan protocol`);
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

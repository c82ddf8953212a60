import { Controller, HttpError, ServerSentEvent } from "@tollway/waymark";
import { heartbeat, lastEventId } from "@tollway/waymark/kit";
import { services } from "../services.ts";
import type { Change } from "../store.ts";

const MOST_LISTENERS = 1_000;
let listeners = 0;

/** The client missed changes that nobody keeps any more: it reads everything again. */
interface Reset {
  kind: "reset";
}

/** `/events` */
export class Default extends Controller {
  /** The changes of the board. A client that comes back with `last-event-id` gets those that it missed. */
  GET(): AsyncIterable<ServerSentEvent<Change | Reset>> {
    return heartbeat(this.changes(), 15_000);
  }

  async *changes(): AsyncGenerator<ServerSentEvent<Change | Reset>> {
    if (listeners >= MOST_LISTENERS)
      throw new HttpError(503, "too many clients listen", { headers: { "retry-after": "10" } });
    listeners += 1;
    try {
      const { store, changes } = services();
      const { oldest, newest } = store.changeIds();
      const seen = Number(lastEventId(this) ?? newest);
      const hasMissed = !(seen >= oldest - 1 && seen <= newest);
      if (hasMissed) yield new ServerSentEvent({ id: newest, data: { kind: "reset" } });
      for await (const { id, change } of changes.after(hasMissed ? newest : seen, this.signal))
        yield new ServerSentEvent({ id, event: change.kind, data: change });
    } finally {
      listeners -= 1;
    }
  }
}

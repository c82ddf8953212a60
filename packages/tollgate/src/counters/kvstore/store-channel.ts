/**
 * A publish/subscribe channel in Redis, for messages between replicas. In a cluster it is a shard channel: only the
 * server of its slot delivers the messages.
 */
import { reconnectDelay } from "../transport/connect.ts";
import type { Connection } from "./connection.ts";
import type { Control } from "./control.ts";
import { ErrorReply, type Reply } from "./resp/reply.ts";
import { slotOf } from "./slots.ts";
import type { Topology } from "./topology.ts";

export interface ChannelEvents {
  message(text: string): void;
  /** From now on every message arrives. Earlier ones may be lost. */
  live(): void;
  /** Messages may be lost until the next `live`. Called after each failed attempt, too. */
  lost(reason: string): void;
}

export interface ChannelOptions {
  readonly topology: Pick<Topology, "open" | "serves" | "isSharded">;
  readonly control: Control;
  readonly channel: string;
  readonly events: ChannelEvents;
  /** Milliseconds between two heartbeats. A subscription without an answer to the last one is lost. */
  readonly beat: number;
}

/** No timeout for the replies of a subscription. The heartbeat bounds them. */
const FOREVER = 2 ** 31 - 1;
/** Milliseconds until the next attempt after a server that has no such command, or does not allow it. */
const REFUSED_RETRY_MS = 5000;

export class StoreChannel {
  readonly #options: ChannelOptions;
  readonly #slot: number;
  #connection: Connection | undefined;
  #retry: NodeJS.Timeout | undefined;
  #failures = 0;
  #closed = false;

  constructor(options: ChannelOptions) {
    this.#options = options;
    this.#slot = slotOf(options.channel);
    void this.#subscribe();
  }

  /** @throws {StoreError} also if the server has no such command, or does not allow it */
  async publish(text: string): Promise<void> {
    const { topology, control, channel } = this.#options;
    await control.run(channel, [[topology.isSharded ? "SPUBLISH" : "PUBLISH", channel, text]], true);
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#retry);
    this.#connection?.destroy();
  }

  async #subscribe(): Promise<void> {
    const { topology } = this.#options;
    let connection: Connection;
    try {
      connection = await topology.open(this.#slot, FOREVER);
    } catch (error) {
      this.#failed((error as Error).message);
      return;
    }
    if (this.#closed) connection.destroy();
    else this.#listen(connection);
  }

  #listen(connection: Connection): void {
    const { topology, channel, events, beat } = this.#options;
    this.#connection = connection;
    let reason = "the connection was lost";
    let refused = false;
    /** A heartbeat without an answer. */
    let waits = false;
    const end = (why: string) => {
      reason = why;
      connection.destroy();
    };
    const heart = setInterval(() => {
      if (!topology.serves(this.#slot, connection.endpoint)) end("another server has the channel now");
      else if (!waits) {
        waits = true;
        connection.writer.reset();
        connection.writer.command(["PING"]);
        connection.sendMore();
      } else {
        // After a pause of this process, the answer may already be in the socket buffer.
        setImmediate(() => {
          if (waits && !connection.closed) end("the server does not answer");
        });
      }
    }, beat);
    heart.unref();
    connection.onClose(() => {
      clearInterval(heart);
      this.#connection = undefined;
      this.#failed(reason, refused);
    });
    if (connection.closed) return;
    connection.writer.reset();
    connection.writer.command([topology.isSharded ? "SSUBSCRIBE" : "SUBSCRIBE", channel]);
    connection.send({
      accept: (reply) => {
        const kind = kindOf(reply);
        if (kind === "pong") waits = false;
        else if (kind === "message") events.message(String((reply as readonly Reply[])[2]));
        else if (kind === "subscribe") {
          this.#failures = 0;
          events.live();
        } else {
          refused = reply instanceof ErrorReply && !["MOVED", "CLUSTERDOWN", "LOADING"].includes(reply.code);
          end(reply instanceof ErrorReply ? reply.message : "the server ended the subscription");
        }
        return false;
      },
      finish() {},
      broken() {},
    });
  }

  #failed(reason: string, refused = false): void {
    if (this.#closed) return;
    this.#failures += 1;
    this.#options.events.lost(reason);
    const delay = refused ? REFUSED_RETRY_MS : reconnectDelay(this.#failures);
    this.#retry = setTimeout(() => void this.#subscribe(), delay);
    this.#retry.unref();
  }
}

function kindOf(reply: Reply): "pong" | "message" | "subscribe" | undefined {
  if (reply === "PONG") return "pong";
  const [kind] = Array.isArray(reply) ? (reply as readonly Reply[]) : [];
  if (kind === "pong") return kind;
  if (kind === "message" || kind === "smessage") return "message";
  return kind === "subscribe" || kind === "ssubscribe" ? "subscribe" : undefined;
}

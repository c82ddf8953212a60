import type { Socket } from "node:net";
import { type Endpoint, formatEndpoint } from "../transport/endpoint.ts";
import { type Exchange, Link } from "../transport/link.ts";
import type { ReplyBytes } from "./resp/parse-reply.ts";
import { ReplyReader } from "./resp/reader.ts";
import type { Reply } from "./resp/reply.ts";
import { CommandWriter } from "./resp/writer.ts";

/** One connection to a Redis server. It carries one exchange at a time. */
export class Connection extends Link<Reply> {
  readonly writer = new CommandWriter();

  readonly #reader: ReplyReader;

  constructor(socket: Socket, endpoint: Endpoint, timeout: number) {
    let reader: ReplyReader;
    super(socket, endpoint, timeout, (accept) => {
      reader = new ReplyReader({ reply: accept });
      return reader;
    });
    this.#reader = reader!;
  }

  /**
   * Sends the content of {@link writer}.
   * @param encoding of bulk strings in the replies
   */
  send(exchange: Exchange<Reply>, encoding: ReplyBytes["encoding"] = "utf8"): void {
    this.#reader.encoding = encoding;
    this.write(this.writer.bytes(), exchange);
  }

  /** Sends the content of {@link writer} within the exchange in progress, which gets the replies. */
  sendMore(): void {
    this.writeMore(this.writer.bytes());
  }

  /** Sends commands off the hot path, in one round trip. Error replies are also results. */
  commands(commands: readonly (readonly string[])[]): Promise<readonly Reply[]> {
    if (commands.length === 0) return Promise.resolve([]);
    if (this.busy) return Promise.reject(new Error(`${formatEndpoint(this.endpoint)} has not answered yet`));
    return new Promise((resolve, reject) => {
      const replies: Reply[] = [];
      this.writer.reset();
      for (const words of commands) this.writer.command(words);
      this.send({
        accept: (reply) => replies.push(reply) === commands.length,
        finish: () => resolve(replies),
        broken: reject,
      });
    });
  }
}

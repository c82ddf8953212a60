import type { Socket } from "node:net";
import { openSocket } from "../transport/connect.ts";
import { type Endpoint, formatEndpoint } from "../transport/endpoint.ts";
import { type Exchange, Link } from "../transport/link.ts";
import type { ClientTlsOptions } from "../transport/tls.ts";
import type { ReplyBytes } from "./resp/parse-reply.ts";
import { ReplyReader } from "./resp/reader.ts";
import { ErrorReply, type Reply } from "./resp/reply.ts";
import { CommandWriter } from "./resp/writer.ts";

/** Credentials for AUTH. `reveal` keeps the password out of logs; only code that writes to a socket calls it. */
export interface Credentials {
  /** Undefined: the server's default user. */
  readonly user: string | undefined;
  readonly password: { reveal(): string };
}

export interface ConnectionOptions {
  readonly endpoint: Endpoint;
  readonly tls?: ClientTlsOptions | undefined;
  readonly credentials?: Credentials | undefined;
  /** Commands after AUTH that must succeed before the connection is used: SELECT, PING. */
  readonly greeting?: readonly (readonly string[])[];
  /** Milliseconds for connecting with its greeting, and for each exchange from its first byte to its last. */
  readonly timeout: number;
  /** Milliseconds for each exchange. Default: `timeout`. */
  readonly exchangeTimeout?: number;
}

/** One connection to a Redis server. It carries one exchange at a time. */
export class Connection extends Link<Reply> {
  readonly writer = new CommandWriter();

  readonly #reader: ReplyReader;

  private constructor(socket: Socket, endpoint: Endpoint, timeout: number) {
    let reader: ReplyReader;
    super(socket, endpoint, timeout, (accept) => {
      reader = new ReplyReader({ reply: accept });
      return reader;
    });
    this.#reader = reader!;
  }

  /** @throws {Error} the message names the server and the reason, and never contains a credential */
  static async open(options: ConnectionOptions): Promise<Connection> {
    const { endpoint, tls, timeout } = options;
    const greeting = [...authentication(options.credentials), ...(options.greeting ?? [])];
    const begun = performance.now();
    const socket = await openSocket(endpoint, tls, timeout);
    const left = Math.max(1, timeout - (performance.now() - begun));
    const connection = new Connection(socket, endpoint, options.exchangeTimeout ?? timeout);
    const bound = setTimeout(() => connection.abortExchange(), left);
    try {
      const replies = await connection.commands(greeting);
      greeting.forEach(([name], i) => {
        const reply = replies[i];
        if (reply instanceof ErrorReply)
          throw new Error(
            `${formatEndpoint(endpoint)} refused ${name}: ${withoutPassword(reply.message, options.credentials)}`,
          );
      });
    } catch (error) {
      connection.destroy();
      throw error;
    } finally {
      clearTimeout(bound);
    }
    return connection;
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

function authentication(credentials: Credentials | undefined): readonly (readonly string[])[] {
  if (credentials === undefined) return [];
  const { user, password } = credentials;
  return [user === undefined ? ["AUTH", password.reveal()] : ["AUTH", user, password.reveal()]];
}

/** Servers without the AUTH command quote its arguments: `unknown command 'AUTH', with args beginning with: 'pa...` */
function withoutPassword(message: string, credentials: Credentials | undefined): string {
  const text = message.replace(/,? with args beginning with.*/is, "");
  const password = credentials?.password.reveal() ?? "";
  return password === "" ? text : text.replaceAll(password, "[hidden]");
}

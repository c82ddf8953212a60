import { openSocket } from "../transport/connect.ts";
import { type Endpoint, formatEndpoint } from "../transport/endpoint.ts";
import type { ClientTlsOptions } from "../transport/tls.ts";
import { Connection } from "./connection.ts";
import { ErrorReply } from "./resp/reply.ts";

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

/** Opens a connection. @throws {Error} the message names the server and the reason, and never contains a credential */
export async function openConnection(options: ConnectionOptions): Promise<Connection> {
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

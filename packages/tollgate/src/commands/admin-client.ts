/** Calls the admin API of a running service. */
import { readFileSync } from "node:fs";
import type { IncomingMessage, RequestOptions } from "node:http";
import type { AdminConnection } from "./admin-options.ts";

/** A call that failed, as a line for the operator. */
export class AdminCallError extends Error {
  override readonly name = "AdminCallError";
  readonly code = "ADMIN_CALL_FAILED";
}

/** Bytes of an answer. A page of counters has less. */
const MOST_BYTES = 64 * 1024 * 1024;

/**
 * @param path below `/admin/v1/`
 * @returns the JSON of the answer
 * @throws {AdminCallError}
 */
export async function callAdmin(
  connection: AdminConnection,
  method: string,
  path: string,
  body?: unknown,
): Promise<unknown> {
  const { status, text } = await send(connection, method, path, body);
  let answer: unknown;
  try {
    answer = JSON.parse(text);
  } catch {
    throw new AdminCallError(
      `${connection.url.host} answered ${status}, but not with JSON: is this its admin port?`,
    );
  }
  if (status < 300) return answer;
  const { detail, done } = answer as { detail?: unknown; done?: readonly unknown[] };
  const after = Array.isArray(done) && done.length > 0 ? `\ndone before: ${done.join("; ")}` : "";
  throw new AdminCallError(`${status}: ${typeof detail === "string" ? detail : text.slice(0, 500)}${after}`);
}

function send(
  connection: AdminConnection,
  method: string,
  path: string,
  body: unknown,
): Promise<{ readonly status: number; readonly text: string }> {
  const { url, timeout } = connection;
  const payload = body === undefined ? undefined : JSON.stringify(body);
  const options: RequestOptions = {
    method,
    agent: false,
    headers: {
      ...authorization(connection),
      ...(payload !== undefined && {
        "content-type": "application/json",
        "content-length": String(Buffer.byteLength(payload)),
      }),
    },
    ...tlsOptions(connection),
  };
  const { request } = process.getBuiltinModule(url.protocol === "https:" ? "node:https" : "node:http");
  return new Promise((resolve, reject) => {
    const fail = (reason: string) => reject(new AdminCallError(`cannot call ${url.origin}: ${reason}`));
    const sent = request(new URL(`/admin/v1/${path}`, url), options);
    const late = setTimeout(() => {
      fail(`no answer within ${timeout} ms`);
      sent.destroy();
    }, timeout);
    sent.on("error", (error: NodeJS.ErrnoException) => {
      clearTimeout(late);
      fail(error.code ?? error.message);
    });
    sent.on("response", (response: IncomingMessage) => {
      read(response).then(
        (text) => {
          clearTimeout(late);
          resolve({ status: response.statusCode ?? 0, text });
        },
        (error: Error) => {
          clearTimeout(late);
          fail(error.message);
        },
      );
    });
    sent.end(payload);
  });
}

async function read(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of response) {
    size += (chunk as Buffer).length;
    if (size > MOST_BYTES) throw new Error(`the answer has more than ${MOST_BYTES} bytes`);
    chunks.push(chunk as Buffer);
  }
  return Buffer.concat(chunks).toString("utf8");
}

function authorization({ token, tokenFile }: AdminConnection): Record<string, string> {
  const text = tokenFile === undefined ? token : readText(tokenFile).trim();
  if (text === undefined) return {};
  // A line `name:token` of the service's own file is accepted, too.
  const own = /^[\w.@-]{1,64}:(\S+)$/.exec(text)?.[1] ?? text;
  if (!/^[\x21-\x7e]+$/.test(own))
    throw new AdminCallError("the token has white space or other characters that a header cannot carry");
  return { authorization: `Bearer ${own}` };
}

function tlsOptions({ caFile, certFile, keyFile }: AdminConnection) {
  return {
    ...(caFile !== undefined && { ca: readText(caFile) }),
    ...(certFile !== undefined && { cert: readText(certFile) }),
    ...(keyFile !== undefined && { key: readText(keyFile) }),
  };
}

function readText(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw new AdminCallError(`cannot read ${path}: ${(error as NodeJS.ErrnoException).code ?? "unknown"}`);
  }
}

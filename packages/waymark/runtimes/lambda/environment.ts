import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { basename, dirname } from "node:path";
import { fileURLToPath } from "node:url";

const NATIVE = fileURLToPath(new URL("native-client.program.ts", import.meta.url));
const API = "/2018-06-01/runtime";
/** Separates the head of a streamed answer from its body. */
const SEPARATOR = Buffer.alloc(8);

/** The outcome of an invocation. */
export type Outcome =
  | { readonly kind: "whole"; readonly result: unknown }
  | { readonly kind: "stream"; readonly head: unknown; readonly body: AsyncIterable<Uint8Array> }
  | { readonly kind: "failed"; readonly error: unknown };

interface Invocation {
  readonly id: string;
  readonly event: unknown;
  readonly outcome: PromiseWithResolvers<Outcome>;
}

/**
 * One execution environment: a process that runs a function with Lambda's own runtime interface client for Node, and
 * the Runtime API that the client speaks to. Like Lambda's, it runs one invocation at a time.
 */
export class Environment {
  readonly child: ChildProcess;
  readonly #server: ReturnType<typeof createServer>;
  #text = "";
  #running: Invocation | undefined = undefined;
  #waiting: ServerResponse | undefined = undefined;
  #queued: Invocation | undefined = undefined;

  /** @param file the module that exports `handler` */
  static async start(file: string, environment: Readonly<Record<string, string>>): Promise<Environment> {
    const server = createServer();
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return new Environment(server, file, environment);
  }

  private constructor(
    server: ReturnType<typeof createServer>,
    file: string,
    environment: Readonly<Record<string, string>>,
  ) {
    this.#server = server;
    server.on("request", (request, response) => this.#serve(request, response));
    const { LAMBDA_RIC = "" } = process.env;
    const env: NodeJS.ProcessEnv = {
      ...process.env,
      ...environment,
      NO_COLOR: "1",
      AWS_EXECUTION_ENV: "AWS_Lambda_nodejs24.x",
      AWS_LAMBDA_RUNTIME_API: `127.0.0.1:${(server.address() as AddressInfo).port}`,
      AWS_LAMBDA_FUNCTION_NAME: "application",
      AWS_LAMBDA_FUNCTION_VERSION: "$LATEST",
      AWS_LAMBDA_FUNCTION_MEMORY_SIZE: "1024",
      AWS_LAMBDA_LOG_GROUP_NAME: "/aws/lambda/application",
      AWS_LAMBDA_LOG_STREAM_NAME: "stream",
      LAMBDA_TASK_ROOT: dirname(file),
      _HANDLER: `${basename(file, ".mjs")}.handler`,
    };
    delete env.NODE_TEST_CONTEXT;
    const args = ["--import", NATIVE, LAMBDA_RIC];
    const stdio = ["ignore", "pipe", "pipe"] as const;
    this.child = spawn(process.execPath, args, { cwd: dirname(file), env, stdio: [...stdio] });
    for (const stream of [this.child.stdout, this.child.stderr])
      stream!.on("data", (piece) => {
        this.#text += piece;
      });
    this.child.on("close", () => this.#settle({ kind: "failed", error: "the process has ended" }));
  }

  /** Whether it takes an invocation. */
  get isFree(): boolean {
    return this.#running === undefined && this.#queued === undefined && this.isAlive;
  }

  get isAlive(): boolean {
    return this.child.exitCode === null && this.child.signalCode === null;
  }

  printed(): string {
    return this.#text;
  }

  invoke(event: unknown): Promise<Outcome> {
    const outcome = Promise.withResolvers<Outcome>();
    this.#queued = { id: randomUUID(), event, outcome };
    this.#hand();
    return outcome.promise;
  }

  async stop(): Promise<void> {
    if (this.isAlive) {
      const closed = once(this.child, "close");
      this.child.kill("SIGKILL");
      await closed;
    }
    this.#server.closeAllConnections();
    this.#server.close();
  }

  #hand(): void {
    const [invocation, response] = [this.#queued, this.#waiting];
    if (invocation === undefined || response === undefined) return;
    this.#running = invocation;
    this.#queued = this.#waiting = undefined;
    response.writeHead(200, {
      "content-type": "application/json",
      "lambda-runtime-aws-request-id": invocation.id,
      "lambda-runtime-deadline-ms": String(Date.now() + 900_000),
      "lambda-runtime-invoked-function-arn": "arn:aws:lambda:eu-central-1:123456789012:function:application",
      "lambda-runtime-trace-id": "Root=1-6526d1a2-0f5d3f2b1c2d3e4f5a6b7c8d;Sampled=0",
    });
    response.end(JSON.stringify(invocation.event));
  }

  #settle(outcome: Outcome): void {
    (this.#running ?? this.#queued)?.outcome.resolve(outcome);
    this.#running = this.#queued = undefined;
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const accept = () => response.writeHead(202, { "content-type": "application/json" }).end("{}");
    const id = this.#running?.id;
    try {
      if (request.url === `${API}/invocation/next`) {
        this.#waiting = response;
        this.#hand();
      } else if (request.url === `${API}/invocation/${id}/response`) {
        if (request.headers["lambda-runtime-function-response-mode"] === "streaming")
          await this.#stream(request);
        else this.#settle({ kind: "whole", result: JSON.parse(String(await bytesOf(request))) });
        accept();
      } else if (request.url === `${API}/invocation/${id}/error` || request.url === `${API}/init/error`) {
        this.#settle({ kind: "failed", error: JSON.parse(String(await bytesOf(request))) });
        accept();
      } else response.writeHead(404).end();
    } catch (error) {
      this.#settle({ kind: "failed", error });
      response.destroy();
    }
  }

  /** A streamed answer: its head, and its body as it arrives. Trailers say that it failed after its beginning. */
  async #stream(request: IncomingMessage): Promise<void> {
    const isHttp = request.headers["content-type"] === "application/vnd.awslambda.http-integration-response";
    const invocation = this.#running!;
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
    const writer = writable.getWriter();
    let start = Buffer.alloc(0);
    let hasHead = false;
    let isRead = true;
    for await (const piece of request as AsyncIterable<Buffer>) {
      if (hasHead) {
        // The function runs on after its caller has left.
        if (isRead)
          isRead = await writer.write(piece).then(
            () => true,
            () => false,
          );
        continue;
      }
      start = Buffer.concat([start, piece]);
      const end = start.indexOf(SEPARATOR);
      if (!isHttp || end === -1) continue;
      hasHead = true;
      const head: unknown = JSON.parse(String(start.subarray(0, end)));
      invocation.outcome.resolve({ kind: "stream", head, body: readable });
      const rest = start.subarray(end + SEPARATOR.length);
      if (rest.length > 0)
        isRead = await writer.write(rest).then(
          () => true,
          () => false,
        );
    }
    const error = request.trailers["lambda-runtime-function-error-type"];
    if (error !== undefined) {
      this.#settle({ kind: "failed", error: request.trailers });
      void writer.abort(new Error(error)).catch(() => undefined);
      return;
    }
    this.#settle({ kind: "failed", error: "the answer has no head" });
    await writer.close().catch(() => undefined);
  }
}

async function bytesOf(request: IncomingMessage): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece as Buffer);
  return Buffer.concat(pieces);
}

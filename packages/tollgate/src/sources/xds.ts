import { setTimeout as delay } from "node:timers/promises";
import { Backoff, type BackoffOptions } from "../backoff.ts";
import type { Logger } from "../observe/log.ts";
import { Throttle, withCount } from "../observe/throttle.ts";
import { type LoadOptions, loadOptionsOf } from "../rules/check-configs.ts";
import { type Diagnostic, formatDiagnostic } from "../rules/diagnostic.ts";
import type { JobResult } from "./compile-job.ts";
import { PacedAnswers } from "./paced-answers.ts";
import { CompilerError, type RuleCompiler } from "./rule-compiler.ts";
import { diagnose, type RuleSource, type SourceEvents } from "./source.ts";
import type { XdsConnectionOptions, XdsStream } from "./xds-stream.ts";

export interface XdsSourceOptions extends XdsConnectionOptions, LoadOptions {
  readonly nodeId: string;
  readonly nodeMetadata: readonly (readonly [name: string, value: string])[];
  readonly backoff: BackoffOptions;
  readonly compiler: RuleCompiler;
  readonly log: Logger;
  /** Waits for a number of milliseconds or until the signal aborts. Default: a timer. */
  readonly wait?: (milliseconds: number, signal: AbortSignal) => Promise<void>;
  /** Default `Math.random`. */
  readonly random?: () => number;
  /** Monotonic milliseconds. Default `performance.now`. */
  readonly now?: () => number;
}

/** Loaded when a source starts. Loading takes about 45 ms and memory, which other deployments save. */
type Messages = typeof import("./xds-messages.ts");
type Response = ReturnType<Messages["decodeResponse"]>;

/** A received set, and how to answer it on its stream. */
interface Received {
  readonly response: Response;
  /** The reload that it follows. */
  readonly reloads: number;
  /** Does nothing after the end of the stream. */
  answer(fields: { readonly version: string; readonly refusal?: string }, isNews: boolean): void;
  /** Ends the stream. */
  end(reason: string): void;
}

interface OpenStream {
  readonly stream: XdsStream;
  readonly answers: PacedAnswers;
  readonly end: (reason: string) => void;
  /** Aborts at the end of the stream. */
  readonly signal: AbortSignal;
}

/** Up to this number of bytes, the first rules are compiled in this thread: in less time than another thread starts. */
const MAX_BYTES_HERE = 64 * 1024;

async function waitOnTimer(milliseconds: number, signal: AbortSignal): Promise<void> {
  await delay(milliseconds, undefined, { signal }).catch(() => {});
}

/**
 * Loads rules from a management server (aggregated discovery service, state of the world). Acknowledges valid sets and
 * refuses invalid ones. Opens a new stream after a delay if the stream is lost.
 */
export class XdsSource implements RuleSource {
  readonly #options: XdsSourceOptions;
  readonly #events: SourceEvents;
  readonly #backoff: Backoff;
  readonly #stopping = new AbortController();
  /** The last accepted version; empty for none. */
  #version = "";
  /** The errors of the last refused set, as logged; empty after an accepted set. */
  #refusal = "";
  readonly #repeats: Throttle;
  readonly #otherTypes: Throttle;
  /** The latest set that is not compiled yet. A newer one replaces it: each set is the whole state. */
  #waiting: Received | undefined;
  #compiling: Promise<void> | undefined;
  #isFirst = true;
  #reloads = 0;
  #running: Promise<void> = Promise.resolve();
  /** Aborts the current attempt or the delay after it. The next attempt follows at once. */
  #attemptAbort = new AbortController();

  constructor(options: XdsSourceOptions, events: SourceEvents) {
    this.#options = options;
    this.#events = events;
    this.#backoff = new Backoff(options.backoff, options.random ?? Math.random);
    this.#repeats = new Throttle(undefined, options.now);
    this.#otherTypes = new Throttle(undefined, options.now);
  }

  start(): void {
    this.#running = this.#run();
  }

  /** Opens a new stream at once and requests all resources, even if the version is unchanged. */
  reload(): void {
    this.#reloads++;
    this.#version = "";
    this.#refusal = "";
    this.#attemptAbort.abort();
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#attemptAbort.abort();
    this.#waiting = undefined;
    await this.#options.compiler.close();
    await this.#compiling;
    await this.#running;
  }

  async #run(): Promise<void> {
    const { serverUrl, log, wait = waitOnTimer } = this.#options;
    const messages = await import("./xds-messages.ts");
    const { signal: stopping } = this.#stopping;
    while (!stopping.aborted) {
      this.#attemptAbort = new AbortController();
      const { signal } = this.#attemptAbort;
      log.info(`connecting to the management server '${serverUrl}'`);
      const reason = await this.#attempt(messages, signal);
      if (signal.aborted) continue;
      const pause = this.#backoff.next();
      log.error(
        `the management server '${serverUrl}' is unavailable: ${reason}; retrying in ${Math.round(pause)} ms`,
      );
      await wait(pause, signal);
    }
  }

  /** Opens a stream and processes its messages until it ends. Resolves with the reason for the end. */
  async #attempt(messages: Messages, signal: AbortSignal): Promise<string> {
    const ended = Promise.withResolvers<string>();
    const over = new AbortController();
    const { wait = waitOnTimer, now = () => performance.now() } = this.#options;
    const answers = new PacedAnswers({ now, wait, signal: over.signal });
    const { openXdsStream } = await import("./xds-stream.ts");
    let stream: XdsStream;
    const end = (reason: string): void => {
      over.abort();
      stream.cancel();
      ended.resolve(reason);
    };
    try {
      stream = await openXdsStream(this.#options, {
        onMessage: (bytes) => {
          try {
            this.#receive(messages, bytes, { stream, answers, end, signal: over.signal });
          } catch (error) {
            end((error as Error).message);
          }
        },
        onEnd: end,
      });
    } catch (error) {
      return (error as Error).message;
    }
    const cancel = (): void => end("cancelled");
    if (signal.aborted) cancel();
    else signal.addEventListener("abort", cancel, { once: true });
    const node = { id: this.#options.nodeId, metadata: this.#options.nodeMetadata };
    stream.send(messages.encodeRequest({ version: this.#version, nonce: "", node }));
    const reason = await ended.promise;
    signal.removeEventListener("abort", cancel);
    return reason;
  }

  /**
   * Takes the set in a response.
   * @throws {Error} if a new stream is required
   */
  #receive(messages: Messages, bytes: Buffer, { stream, answers, end, signal }: OpenStream): void {
    const { encodeRequest, TYPE_URL } = messages;
    const response = this.#decode(messages, bytes);
    const { typeUrl, nonce } = response;
    this.#backoff.reset();
    if (typeUrl !== TYPE_URL) {
      const count = this.#otherTypes.hit();
      if (count !== undefined)
        this.#options.log.warn(
          withCount(
            `the management server sent ${JSON.stringify(typeUrl)}, which was not requested: ignored`,
            count,
          ),
        );
      return;
    }
    this.#waiting = {
      response,
      reloads: this.#reloads,
      end,
      answer(fields, isNews) {
        if (signal.aborted) return;
        const send = (): void => stream.send(encodeRequest({ ...fields, nonce }));
        if (isNews) answers.sendNow(send);
        else answers.send(send);
      },
    };
    this.#compiling ??= this.#compileWaiting().finally(() => {
      this.#compiling = undefined;
    });
  }

  /** Compiles the received sets one after the other, and accepts or refuses each. Never rejects. */
  async #compileWaiting(): Promise<void> {
    for (let received = this.#waiting; received !== undefined; received = this.#waiting) {
      this.#waiting = undefined;
      try {
        await this.#load(received);
      } catch (error) {
        received.end((error as Error).message);
      }
    }
  }

  async #load({ response, reloads, answer }: Received): Promise<void> {
    const { compiled, diagnostics } = await this.#compile(response);
    if (this.#stopping.signal.aborted) return;
    const errors = diagnostics.filter(({ severity }) => severity === "error").map(formatDiagnostic);
    if (compiled !== undefined) {
      this.#isFirst = false;
      await this.#events.onRules(compiled, diagnostics);
      this.#refusal = "";
    } else await this.#report(errors.join("\n"), diagnostics);
    const isNews = compiled !== undefined && response.versionInfo !== this.#version;
    // After a reload, the next stream requests the set again.
    if (compiled !== undefined && reloads === this.#reloads) this.#version = response.versionInfo;
    answer({ version: this.#version, ...(compiled === undefined && { refusal: errors.join("\n") }) }, isNews);
  }

  async #compile({ resources }: Response): Promise<Pick<JobResult, "compiled" | "diagnostics">> {
    const { compiler, serverUrl } = this.#options;
    const bytes = resources.reduce((sum, { value }) => sum + value.length, 0);
    const received = resources.map(({ typeUrl, value }) => ({ typeUrl, value }));
    const job = { kind: "resources", resources: received, ...loadOptionsOf(this.#options) } as const;
    try {
      return await (this.#isFirst && bytes <= MAX_BYTES_HERE ? compiler.runHere(job) : compiler.run(job));
    } catch (error) {
      if (!(error instanceof CompilerError)) throw error;
      return { compiled: undefined, diagnostics: [diagnose("compiler-failed", serverUrl, error.message)] };
    }
  }

  /** @throws {Error} if the message is invalid: without its nonce, the set can be neither accepted nor refused */
  #decode(messages: Messages, bytes: Buffer): Response {
    try {
      return messages.decodeResponse(bytes);
    } catch (error) {
      const message = `a message cannot be decoded as a DiscoveryResponse: ${(error as Error).message}`;
      void this.#events.onError([diagnose("undecodable-resource", this.#options.serverUrl, message)]);
      throw new Error(message, { cause: error });
    }
  }

  /** Logs a refused set. If its errors are unchanged, logs only a count, at most once a minute. */
  async #report(refusal: string, diagnostics: readonly Diagnostic[]): Promise<void> {
    if (refusal !== this.#refusal) {
      this.#refusal = refusal;
      this.#repeats.restart();
      await this.#events.onError(diagnostics);
      return;
    }
    this.#events.onRepeatedError();
    const count = this.#repeats.hit();
    if (count === undefined) return;
    const { log, serverUrl } = this.#options;
    log.error(
      `the management server '${serverUrl}' sent a set with the same errors ${count} more ${count === 1 ? "time" : "times"}`,
    );
  }
}

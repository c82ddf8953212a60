import { setTimeout as delay } from "node:timers/promises";
import { Backoff, type BackoffOptions } from "../backoff.ts";
import type { Logger } from "../observe/log.ts";
import { Throttle, withCount } from "../observe/throttle.ts";
import type { LoadOptions } from "../rules/check-configs.ts";
import { type Diagnostic, formatDiagnostic } from "../rules/diagnostic.ts";
import { loadResources } from "../rules/load-rules.ts";

import { PacedAnswers } from "./paced-answers.ts";
import { diagnose, type RuleSource, type SourceEvents } from "./source.ts";
import type { XdsConnectionOptions, XdsStream } from "./xds-stream.ts";

export interface XdsSourceOptions extends XdsConnectionOptions, LoadOptions {
  readonly nodeId: string;
  readonly nodeMetadata: readonly (readonly [name: string, value: string])[];
  readonly backoff: BackoffOptions;
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
    this.#version = "";
    this.#refusal = "";
    this.#attemptAbort.abort();
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#attemptAbort.abort();
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
            this.#respond(messages, bytes, stream, answers);
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
   * Loads the set in a response and accepts or refuses it.
   * @throws {Error} if a new stream is required
   */
  #respond(messages: Messages, bytes: Buffer, stream: XdsStream, answers: PacedAnswers): void {
    const { encodeRequest, TYPE_URL } = messages;
    const { typeUrl, versionInfo, nonce, resources } = this.#decode(messages, bytes);
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
    const errors = this.#load(messages.decodeResources(resources));
    const isNews = errors.length === 0 && versionInfo !== this.#version;
    if (errors.length === 0) this.#version = versionInfo;
    const version = this.#version;
    const answer = (): void =>
      stream.send(
        encodeRequest({ version, nonce, ...(errors.length > 0 && { refusal: errors.join("\n") }) }),
      );
    if (isNews) answers.sendNow(answer);
    else answers.send(answer);
  }

  /** @throws {Error} if the message is invalid: without its nonce, the set can be neither accepted nor refused */
  #decode(messages: Messages, bytes: Buffer): Response {
    try {
      return messages.decodeResponse(bytes);
    } catch (error) {
      const message = `a message cannot be decoded as a DiscoveryResponse: ${(error as Error).message}`;
      this.#events.onError([diagnose("undecodable-resource", this.#options.serverUrl, message)]);
      throw new Error(message, { cause: error });
    }
  }

  /** @returns the errors of a refused set, one per element */
  #load(decoded: ReturnType<Messages["decodeResources"]>): readonly string[] {
    const { ruleSet, diagnostics } = loadResources(decoded.resources, this.#options);
    const all = [...decoded.diagnostics, ...diagnostics];
    const errors = all.filter(({ severity }) => severity === "error").map(formatDiagnostic);
    if (ruleSet !== undefined && errors.length === 0) {
      this.#events.onRules(ruleSet, all);
      this.#refusal = "";
    } else this.#report(errors.join("\n"), all);
    return errors;
  }

  /** Logs a refused set. If its errors are unchanged, logs only a count, at most once a minute. */
  #report(refusal: string, diagnostics: readonly Diagnostic[]): void {
    if (refusal !== this.#refusal) {
      this.#refusal = refusal;
      this.#repeats.restart();
      this.#events.onError(diagnostics);
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

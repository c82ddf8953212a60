import { setTimeout as delay } from "node:timers/promises";
import type { Logger } from "../observe/log.ts";
import { type Diagnostic, formatDiagnostic } from "../rules/diagnostic.ts";
import { loadResources } from "../rules/load.ts";
import { Backoff, type BackoffOptions } from "./backoff.ts";
import { diagnose } from "./diagnose.ts";
import type { RuleSource, SourceEvents } from "./source.ts";
import type { XdsConnectionOptions, XdsStream } from "./xds-stream.ts";

export interface XdsSourceOptions extends XdsConnectionOptions {
  readonly nodeId: string;
  readonly nodeMetadata: readonly (readonly [name: string, value: string])[];
  readonly backoff: BackoffOptions;
  /** `MERGE_DOMAIN_CONFIG` */
  readonly mergeDomains: boolean;
  readonly log: Logger;
  /** Waits so many milliseconds, or until the signal. Default: a timer. */
  readonly wait?: (milliseconds: number, signal: AbortSignal) => Promise<void>;
  /** Default `Math.random`. */
  readonly random?: () => number;
}

/** What speaks to the server. Loaded when a source starts: it would cost every other start some 45 ms and its memory. */
type Messages = typeof import("./xds-messages.ts");
type Response = ReturnType<Messages["decodeResponse"]>;

async function waitOnTimer(milliseconds: number, signal: AbortSignal): Promise<void> {
  await delay(milliseconds, undefined, { signal }).catch(() => {});
}

/**
 * Rules from a management server: the aggregated discovery service, state of the world. What the server sends is
 * loaded and acknowledged, or refused and kept out; a lost stream is opened again after a wait.
 */
export class XdsSource implements RuleSource {
  readonly #options: XdsSourceOptions;
  readonly #events: SourceEvents;
  readonly #backoff: Backoff;
  readonly #stopping = new AbortController();
  /** The version last accepted; empty for none. */
  #version = "";
  #running: Promise<void> = Promise.resolve();
  /** Ends what the source is at, an attempt or the wait after one, so that the next attempt begins. */
  #hurry = new AbortController();

  constructor(options: XdsSourceOptions, events: SourceEvents) {
    this.#options = options;
    this.#events = events;
    this.#backoff = new Backoff(options.backoff, options.random ?? Math.random);
  }

  start(): void {
    this.#running = this.#run();
  }

  /** Opens a new stream at once and asks for everything, whatever version is in force. */
  reload(): void {
    this.#version = "";
    this.#hurry.abort();
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#hurry.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { serverUrl, log, wait = waitOnTimer } = this.#options;
    const messages = await import("./xds-messages.ts");
    const { signal: stopping } = this.#stopping;
    while (!stopping.aborted) {
      this.#hurry = new AbortController();
      const { signal } = this.#hurry;
      log.info(`connecting to the management server '${serverUrl}'`);
      const reason = await this.#attempt(messages, signal);
      if (signal.aborted) continue;
      const pause = this.#backoff.next();
      log.error(
        `the management server '${serverUrl}' is away: ${reason}; trying again in ${Math.round(pause)} ms`,
      );
      await wait(pause, signal);
    }
  }

  /** Opens a stream and serves it until it ends. Resolves with the reason. */
  async #attempt(messages: Messages, signal: AbortSignal): Promise<string> {
    const ended = Promise.withResolvers<string>();
    const { openXdsStream } = await import("./xds-stream.ts");
    let stream: XdsStream;
    try {
      stream = await openXdsStream(this.#options, {
        onMessage: (bytes) => this.#respond(messages, bytes, stream, ended.resolve),
        onEnd: ended.resolve,
      });
    } catch (error) {
      return (error as Error).message;
    }
    const cancel = (): void => {
      stream.cancel();
      ended.resolve("cancelled");
    };
    if (signal.aborted) cancel();
    else signal.addEventListener("abort", cancel, { once: true });
    const node = { id: this.#options.nodeId, metadata: this.#options.nodeMetadata };
    stream.send(messages.encodeRequest({ version: this.#version, nonce: "", node }));
    const reason = await ended.promise;
    signal.removeEventListener("abort", cancel);
    return reason;
  }

  /** Loads what a response holds, and accepts or refuses it. */
  #respond(messages: Messages, bytes: Buffer, stream: XdsStream, end: (reason: string) => void): void {
    const { encodeRequest, TYPE_URL } = messages;
    let response: Response;
    try {
      response = messages.decodeResponse(bytes);
    } catch (error) {
      // Without its nonce it cannot be refused: only a new stream gets the two sides together again.
      const message = `a message is no DiscoveryResponse: ${(error as Error).message}`;
      this.#events.onError([diagnose("undecodable-resource", this.#options.serverUrl, message)]);
      stream.cancel();
      end(message);
      return;
    }
    this.#backoff.reset();
    if (response.typeUrl !== TYPE_URL) {
      this.#options.log.warn(
        `the management server sent ${JSON.stringify(response.typeUrl)}, unasked: ignored`,
      );
      return;
    }
    const errors = this.#load(messages.decodeResources(response.resources));
    const { nonce } = response;
    if (errors.length === 0) {
      this.#version = response.versionInfo;
      stream.send(encodeRequest({ version: this.#version, nonce }));
    } else
      stream.send(
        encodeRequest({ version: this.#version, nonce, refusal: errors.map(formatDiagnostic).join("\n") }),
      );
  }

  /** @returns the errors that keep the set out */
  #load(decoded: ReturnType<Messages["decodeResources"]>): readonly Diagnostic[] {
    const { mergeDomains } = this.#options;
    const { ruleSet, diagnostics } = loadResources(decoded.resources, { mergeDomains });
    const all = [...decoded.diagnostics, ...diagnostics];
    const errors = all.filter((diagnostic) => diagnostic.severity === "error");
    if (ruleSet !== undefined && errors.length === 0) this.#events.onRules(ruleSet, all);
    else this.#events.onError(all);
    return errors;
  }
}

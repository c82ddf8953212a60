import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import { logListenerErrors } from "../../listener-errors.ts";
import type { Logger } from "../../log.ts";
import { faultOfHead } from "../../request-head.ts";
import type { StatisticsView } from "../../series.ts";
import type { Counter } from "../../statistics.ts";
import { SinkConfigError } from "../sink.ts";
import { CONTENT_TYPES, render } from "./exposition.ts";
import { Families } from "./families.ts";
import type { Mapping } from "./mapping.ts";
import { negotiate } from "./negotiate.ts";

export interface PullOptions {
  /** `PULLSTATS_ADDR`: `:9090`, `127.0.0.1:9090`, `[::1]:9090`; port 0 takes a free one. */
  readonly address: string;
  /** `PULLSTATS_PATH`. */
  readonly path: string;
  readonly mapping: Mapping;
  readonly log: Logger;
  /** Counts series that could not be shown. */
  readonly dropped: Counter;
}

export interface PullServer {
  /** `host:port` as bound. */
  readonly address: string;
  close(): Promise<void>;
}

/** A scrape may hold much; more than these at a time are told to come back. */
const MAX_SCRAPES = 4;
const SCRAPE_TIMEOUT = 60_000;
const NOSNIFF = { "X-Content-Type-Options": "nosniff" };

/** Host and port of `PULLSTATS_ADDR`. @throws {SinkConfigError} */
export function parseAddress(address: string): { readonly host: string | undefined; readonly port: number } {
  const match = /^(?:\[([0-9a-fA-F:.%\w]+)\]|([^:[\]]*)):(\d{1,5})$/.exec(address);
  const port = Number(match?.[3]);
  if (match === null || port > 65_535)
    throw new SinkConfigError(`PULLSTATS_ADDR is "${address}": it must be host:port or :port, such as :9090`);
  const host = match[1] ?? match[2]!;
  return { host: host === "" ? undefined : host, port };
}

/**
 * The metrics port. Opens its own listener, which serves nothing else.
 * @throws {SinkConfigError} for a bad address or path; a system error where the port cannot be bound
 */
export async function startPull(view: StatisticsView, options: PullOptions): Promise<PullServer> {
  const { host, port } = parseAddress(options.address);
  if (!options.path.startsWith("/"))
    throw new SinkConfigError(`PULLSTATS_PATH is "${options.path}": it must start with /`);
  const families = new Families(view, options);
  let scrapes = 0;
  const server = createServer({ requestTimeout: 10_000, headersTimeout: 5000, keepAliveTimeout: 65_000 });
  server.maxConnections = 256;
  server.on("request", (request, response) => {
    if (!admits(request, response, options.path)) return;
    if (scrapes >= MAX_SCRAPES) {
      answer(response, 503, "too many scrapes at a time\n", { "Retry-After": "1" });
      return;
    }
    scrapes++;
    scrape(families, request, response)
      .catch((error: unknown) => {
        // A scraper that hangs up is no event.
        if ((error as NodeJS.ErrnoException).code !== "ERR_STREAM_PREMATURE_CLOSE")
          options.log.error(`statistics: a scrape failed: ${String(error)}`);
        response.destroy();
      })
      .finally(() => {
        scrapes--;
      });
  });
  try {
    await listen(server, host, port);
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error);
    throw new Error(`cannot listen for metrics on ${options.address}: ${problem}`, { cause: error });
  }
  logListenerErrors(server, "metrics", options.log);
  const bound = server.address() as AddressInfo;
  return {
    address: bound.family === "IPv6" ? `[${bound.address}]:${bound.port}` : `${bound.address}:${bound.port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function admits(request: IncomingMessage, response: ServerResponse, path: string): boolean {
  const fault = faultOfHead(request);
  if (fault !== undefined) {
    answer(response, 400, `${fault}\n`, { Connection: "close" });
    return false;
  }
  const asked = request.url?.split("?", 1)[0];
  if (asked !== path) {
    answer(response, 404, `metrics are at ${path}\n`, {});
    return false;
  }
  if (request.method === "GET" || request.method === "HEAD") return true;
  answer(response, 405, "only GET and HEAD\n", { Allow: "GET, HEAD" });
  return false;
}

async function scrape(families: Families, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const format = negotiate(request.headers.accept);
  const zipped = /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/i.test(
    String(request.headers["accept-encoding"] ?? ""),
  );
  response.writeHead(200, {
    "Content-Type": CONTENT_TYPES[format],
    Vary: "Accept, Accept-Encoding",
    ...NOSNIFF,
    ...(zipped ? { "Content-Encoding": "gzip" } : {}),
  });
  if (request.method === "HEAD") {
    response.end();
    return;
  }
  const text = Readable.from(render(families, format));
  // One that reads too slowly would keep its place for ever.
  const signal = AbortSignal.timeout(SCRAPE_TIMEOUT);
  if (zipped) await pipeline(text, createGzip({ level: 1 }), response, { signal });
  else await pipeline(text, response, { signal });
}

function answer(
  response: ServerResponse,
  status: number,
  text: string,
  headers: Record<string, string>,
): void {
  response.writeHead(status, { "Content-Type": "text/plain; charset=utf-8", ...NOSNIFF, ...headers });
  response.end(text);
}

function listen(server: Server, host: string | undefined, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, () => {
      server.off("error", reject);
      resolve();
    });
  });
}

import type { IncomingMessage, ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import type { ServerLimits } from "@tollway/waymark";
import { type NodeListener, startHttpServer } from "@tollway/waymark/server";
import { openHttpPort } from "../../http-port.ts";
import type { Logger } from "../../log.ts";
import type { StatisticsView } from "../../series.ts";
import { SinkConfigError } from "../../sink-config-error.ts";
import type { Counter } from "../../statistics.ts";
import { contentTypes, type MoreFamilies, render } from "./exposition.ts";
import { Families } from "./families.ts";
import type { Mapping } from "./mapping.ts";
import { negotiate } from "./negotiate.ts";

export interface PullOptions {
  /** `PULLSTATS_ADDR`: `:9090`, `127.0.0.1:9090`, `[::1]:9090`. Port 0 picks a free port. */
  readonly address: string;
  /** `PULLSTATS_PATH`. */
  readonly path: string;
  readonly mapping: Mapping;
  readonly log: Logger;
  /** Counts series that are not shown. */
  readonly dropped: Counter;
  /** Further families, whose series change from scrape to scrape. */
  readonly more?: MoreFamilies | undefined;
}

export interface PullServer {
  /** The bound address, `host:port`. */
  readonly address: string;
  close(): Promise<void>;
}

/** Maximum concurrent scrapes, because each may buffer a lot of data. Further scrapes get 503 with Retry-After. */
const MAX_SCRAPES = 4;
const SCRAPE_TIMEOUT = 60_000;
const LIMITS: ServerLimits = {
  requestTimeout: 10_000,
  headersTimeout: 5000,
  keepAliveTimeout: 65_000,
  maxConnections: 256,
};
const nosniff = { "X-Content-Type-Options": "nosniff" };

/** Parses the host and the port of `PULLSTATS_ADDR`. @throws {SinkConfigError} */
export function parseAddress(address: string): { readonly host: string | undefined; readonly port: number } {
  const match = /^(?:\[([0-9a-fA-F:.%\w]+)\]|([^:[\]]*)):(\d{1,5})$/.exec(address);
  const port = Number(match?.[3]);
  if (match === null || port > 65_535)
    throw new SinkConfigError(`PULLSTATS_ADDR is "${address}": it must be host:port or :port, such as :9090`);
  const host = match[1] ?? match[2]!;
  return { host: host === "" ? undefined : host, port };
}

/**
 * Opens the metrics port, a listener that serves nothing else.
 * @throws {SinkConfigError} for an invalid address or path; a system error if the port cannot be bound
 */
export async function startPull(view: StatisticsView, options: PullOptions): Promise<PullServer> {
  const { host, port } = parseAddress(options.address);
  if (!options.path.startsWith("/"))
    throw new SinkConfigError(`PULLSTATS_PATH is "${options.path}": it must start with /`);
  const families = new Families(view, options);
  let scrapes = 0;
  const { log } = options;
  const serve: NodeListener = (request, response) => {
    if (!admits(request, response, options.path)) return;
    if (scrapes >= MAX_SCRAPES) {
      answer(response, 503, "too many concurrent scrapes: try again in a second\n", { "Retry-After": "1" });
      return;
    }
    scrapes++;
    scrape(families, options.more, request, response)
      .catch((error: unknown) => {
        // A scraper may close its connection at any time.
        if ((error as NodeJS.ErrnoException).code !== "ERR_STREAM_PREMATURE_CLOSE")
          log.error(`statistics: a scrape failed: ${String(error)}`);
        response.destroy();
      })
      .finally(() => {
        scrapes--;
      });
  };
  const { running, address } = await openHttpPort({ name: "metrics", host, port, log }, (common) =>
    startHttpServer(serve, { ...common, ...LIMITS }),
  );
  return { address, close: () => running.stop(0) };
}

function admits(request: IncomingMessage, response: ServerResponse, path: string): boolean {
  if (request.url?.split("?", 1)[0] !== path) {
    answer(response, 404, `not found: the metrics are at ${path}\n`, {});
    return false;
  }
  if (request.method === "GET" || request.method === "HEAD") return true;
  answer(response, 405, "method not allowed: use GET or HEAD\n", { Allow: "GET, HEAD" });
  return false;
}

async function scrape(
  families: Families,
  more: MoreFamilies | undefined,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const format = negotiate(request.headers.accept);
  const zipped = /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/i.test(
    String(request.headers["accept-encoding"] ?? ""),
  );
  response.writeHead(200, {
    "Content-Type": contentTypes[format],
    Vary: "Accept, Accept-Encoding",
    ...nosniff,
    ...(zipped ? { "Content-Encoding": "gzip" } : {}),
  });
  if (request.method === "HEAD") {
    response.end();
    return;
  }
  const text = Readable.from(render(families, format, { more }));
  // A scraper that reads too slowly must not keep its place among the concurrent scrapes.
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
  response.writeHead(status, { "Content-Type": "text/plain; charset=utf-8", ...nosniff, ...headers });
  response.end(text);
}

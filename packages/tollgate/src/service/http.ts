import { type HttpListener, openHttpListener } from "../listeners/http-listener.ts";
import { httpPages } from "../listeners/http-pages.ts";
import { reservationPages } from "../listeners/http-reservations.ts";
import type { RateLimitHandler } from "../listeners/rate-limit-handler.ts";
import type { ReservationHandler } from "../listeners/reservation-handler.ts";
import { TlsFiles } from "../listeners/tls-files.ts";
import type { Health } from "../observe/health.ts";
import type { Logger } from "../observe/log.ts";
import type { Statistics } from "../observe/statistics.ts";
import type { Tracing } from "../observe/tracing/tracing.ts";
import type { Settings } from "../settings/settings.ts";

interface HttpOptions {
  readonly settings: NonNullable<Settings["http"]>;
  readonly handler: RateLimitHandler;
  readonly reservations: ReservationHandler;
  readonly health: Health;
  readonly tracing: Tracing;
  readonly statistics: Statistics;
  readonly log: Logger;
}

/** Opens the HTTP port. Rejects if the port cannot be bound or its certificates cannot be used. */
export async function openHttp(options: HttpOptions): Promise<Omit<HttpListener, "replaceCertificates">> {
  const { settings, handler, reservations, health, tracing, statistics, log } = options;
  const { host, port, tls } = settings;
  const files =
    tls &&
    TlsFiles.open({
      paths: { cert: tls.cert, key: tls.key, clientCa: tls.clientCaCert },
      log,
      statistics,
      onChange: (certificates) => listener.replaceCertificates(certificates),
    });
  let listener: HttpListener;
  try {
    listener = await openHttpListener({
      name: "HTTP",
      host,
      port,
      certificates: files?.current,
      clientSan: tls?.clientSan,
      controllers: httpPages(handler, health, tracing, reservationPages(reservations, handler, tracing)),
      log,
    });
  } catch (error) {
    files?.close();
    throw error;
  }
  return {
    address: listener.address,
    drain: () => listener.drain(),
    close: (timeout) => {
      files?.close();
      return listener.close(timeout);
    },
  };
}

import type { Answering } from "../doors/answering.ts";
import { type HttpDoor, openHttpDoor } from "../doors/http-listener.ts";
import { httpPages } from "../doors/http-pages.ts";
import { TlsFiles } from "../doors/tls-files.ts";
import type { Health } from "../observe/health.ts";
import type { Logger } from "../observe/log.ts";
import type { Statistics } from "../observe/statistics.ts";
import type { Tracing } from "../observe/tracing/tracing.ts";
import type { Settings } from "../settings/settings.ts";

interface HttpOptions {
  readonly settings: NonNullable<Settings["http"]>;
  readonly answering: Answering;
  readonly health: Health;
  readonly tracing: Tracing;
  readonly statistics: Statistics;
  readonly log: Logger;
}

/** Opens the HTTP port. Rejects where it cannot be had, or its certificates cannot be used. */
export async function openHttp(options: HttpOptions): Promise<Omit<HttpDoor, "replaceCertificates">> {
  const { settings, answering, health, tracing, statistics, log } = options;
  const { host, port, tls } = settings;
  const files =
    tls &&
    TlsFiles.open({
      paths: { cert: tls.cert, key: tls.key, clientCa: tls.clientCaCert },
      log,
      statistics,
      onChange: (certificates) => door.replaceCertificates(certificates),
    });
  let door: HttpDoor;
  try {
    door = await openHttpDoor({
      name: "HTTP",
      host,
      port,
      certificates: files?.current,
      clientSan: tls?.clientSan,
      controllers: httpPages(answering, health, tracing),
      log,
    });
  } catch (error) {
    files?.close();
    throw error;
  }
  return {
    address: door.address,
    drain: () => door.drain(),
    close: (timeout) => {
      files?.close();
      return door.close(timeout);
    },
  };
}

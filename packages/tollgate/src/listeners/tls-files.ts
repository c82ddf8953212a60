import { createPrivateKey, X509Certificate } from "node:crypto";
import { readFileSync, watch } from "node:fs";
import { dirname } from "node:path";
import { createSecureContext } from "node:tls";
import type { Logger } from "../observe/log.ts";
import type { Statistics } from "../observe/statistics.ts";
import { DirectoryWatches } from "../watching/directory-watches.ts";
import type { Certificates } from "./grpc-listener.ts";

/** Paths, as the settings have them. */
export interface TlsPaths {
  /** `GRPC_SERVER_TLS_CERT`: a chain, the server's own certificate first. */
  readonly cert: string;
  /** `GRPC_SERVER_TLS_KEY`. */
  readonly key: string;
  /** `GRPC_CLIENT_TLS_CACERT`. */
  readonly clientCa: string | undefined;
}

export interface TlsFilesOptions {
  readonly paths: TlsPaths;
  readonly log: Logger;
  readonly statistics: Statistics;
  /** Another pair, or another authority, that fits together. What it throws is reported; the old ones stay then. */
  readonly onChange: (certificates: Certificates) => void;
  /** Milliseconds. Defaults 100, 1000 and 30,000; tests have less patience. */
  readonly timing?: { readonly settle: number; readonly grace: number; readonly poll: number };
}

/** Certificates that cannot be used; the message names the file. */
export class TlsFilesError extends Error {
  override readonly name = "TlsFilesError";
  readonly code = "BAD_CERTIFICATES";
}

/**
 * Keeps a server's certificates in step with their files. Their directories are watched, which sees files that are
 * written, renamed onto and, as Kubernetes does, swapped through links; what no watch sees (links further up, network
 * file systems) the poll finds. Certificate and key are seldom replaced in one step: a pair that does not fit gets a
 * grace period before it is reported.
 */
export class TlsFiles {
  readonly #options: TlsFilesOptions;
  readonly #directories: ReadonlySet<string>;
  readonly #watches: DirectoryWatches;
  readonly #poll: NodeJS.Timeout;
  readonly #settle: number;
  readonly #grace: number;
  #current: Certificates;
  #pending: NodeJS.Timeout | undefined;
  /** What was found unfit and is waiting for its other half, or was reported. */
  #unfit: { readonly fault: string; readonly reported: boolean } | undefined;

  private constructor(options: TlsFilesOptions, current: Certificates) {
    const { settle, grace, poll } = options.timing ?? { settle: 100, grace: 1000, poll: 30_000 };
    this.#options = options;
    this.#current = current;
    this.#settle = settle;
    this.#grace = grace;
    this.#directories = new Set(pathsOf(options.paths).map((path) => dirname(path)));
    this.#watches = new DirectoryWatches({
      onEvent: () => this.#soon(this.#settle),
      watch,
      persistent: false,
    });
    this.#watch();
    this.#poll = setInterval(() => this.#look(), poll).unref();
  }

  /**
   * Loads the files and watches them from then on.
   * @throws {TlsFilesError} where they cannot be used
   */
  static open(options: TlsFilesOptions): TlsFiles {
    return new TlsFiles(options, load(options.paths, options.log));
  }

  get current(): Certificates {
    return this.#current;
  }

  close(): void {
    clearInterval(this.#poll);
    clearTimeout(this.#pending);
    this.#watches.close();
  }

  /** The poll tries again where a directory cannot be watched. */
  #watch(): void {
    for (const fault of this.#watches.update(this.#directories))
      this.#options.log.debug(() => `TLS: a directory cannot be watched: ${fault}`);
  }

  /** A burst of events is one look. */
  #soon(milliseconds: number): void {
    clearTimeout(this.#pending);
    this.#pending = setTimeout(() => this.#look(), milliseconds).unref();
  }

  #look(): void {
    this.#watch();
    const { paths, log, statistics, onChange } = this.#options;
    try {
      const { cert, key, ca } = read(paths);
      if (cert === this.#current.cert && key === this.#current.key && ca === this.#current.ca) {
        this.#unfit = undefined;
        return;
      }
      check({ cert, key, ca }, paths, log);
      onChange({ cert, key, ca });
      this.#current = { cert, key, ca };
      this.#unfit = undefined;
      statistics.counter("certs.load_attempts").value++;
      log.warn(`TLS: loaded ${paths.cert} and ${paths.key} anew`);
    } catch (error) {
      this.#report(error instanceof Error ? error.message : String(error));
    }
  }

  #report(fault: string): void {
    if (this.#unfit?.fault !== fault) {
      this.#unfit = { fault, reported: false };
      this.#soon(this.#grace);
      return;
    }
    if (this.#unfit.reported) return;
    this.#unfit = { fault, reported: true };
    const { log, statistics } = this.#options;
    statistics.counter("certs.load_attempts").value++;
    statistics.counter("certs.load_failures").value++;
    log.error(`TLS: the old certificates stay: ${fault}`);
  }
}

function pathsOf({ cert, key, clientCa }: TlsPaths): readonly string[] {
  return clientCa === undefined ? [cert, key] : [cert, key, clientCa];
}

function load(paths: TlsPaths, log: Logger): Certificates {
  const certificates = read(paths);
  check(certificates, paths, log);
  return certificates;
}

function read({ cert, key, clientCa }: TlsPaths): Certificates {
  return {
    cert: readPem(cert),
    key: readPem(key),
    ca: clientCa === undefined ? undefined : readPem(clientCa),
  };
}

function readPem(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw new TlsFilesError(`${path} cannot be read: ${(error as NodeJS.ErrnoException).code ?? "unknown"}`);
  }
}

/** Each part by itself first, so that the message names the file. */
function check({ cert, key, ca }: Certificates, paths: TlsPaths, log: Logger): void {
  const leaf = parseCertificates(cert, paths.cert)[0]!;
  const privateKey = attempt(`${paths.key} holds no private key that can be read`, () =>
    createPrivateKey(key),
  );
  if (!leaf.checkPrivateKey(privateKey))
    throw new TlsFilesError(`${paths.key} is not the key of the first certificate in ${paths.cert}`);
  if (ca !== undefined) parseCertificates(ca, paths.clientCa!);
  attempt(`${paths.cert} and ${paths.key} cannot be used`, () => createSecureContext({ cert, key, ca }));
  if (leaf.validToDate.getTime() < Date.now())
    log.warn(`TLS: the certificate in ${paths.cert} ran out at ${leaf.validToDate.toISOString()}`);
}

const pemCertificate = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

function parseCertificates(pem: string, path: string): X509Certificate[] {
  const blocks = pem.match(pemCertificate);
  if (blocks === null) throw new TlsFilesError(`${path} holds no certificate (PEM)`);
  return blocks.map((block, i) =>
    attempt(`certificate ${i + 1} in ${path} cannot be read`, () => new X509Certificate(block)),
  );
}

/** The library's own messages may quote what they read; its code is enough. */
function attempt<T>(message: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw new TlsFilesError(`${message}: ${(error as NodeJS.ErrnoException).code ?? "unknown"}`);
  }
}

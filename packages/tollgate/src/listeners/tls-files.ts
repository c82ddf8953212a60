import { createPrivateKey, X509Certificate } from "node:crypto";
import { readFileSync, watch } from "node:fs";
import { dirname } from "node:path";
import type { Logger } from "../observe/log.ts";
import type { Statistics } from "../observe/statistics.ts";
import { pageOfCode, withPage } from "../text/manual.ts";
import { DirectoryWatches } from "../watching/directory-watches.ts";
import type { Certificates } from "./server-tls.ts";

/** Paths from the settings. */
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
  /** Receives new certificates that match their key. If it throws, the error is reported and the old ones stay in use. */
  readonly onChange: (certificates: Certificates) => void;
  /** Milliseconds, for tests. Defaults: 100, 1000 and 30,000. */
  readonly timing?: { readonly settle: number; readonly grace: number; readonly poll: number };
}

/** Certificates that cannot be used; the message names the file. */
export class TlsFilesError extends Error {
  override readonly name = "TlsFilesError";
  readonly code = "BAD_CERTIFICATES";
}

/**
 * Reloads a server's certificates when their files change. Watches on the directories detect files that are written,
 * replaced by a rename, or swapped through links, as Kubernetes does. A poll finds changes that no watch detects (links
 * further up, network file systems). Certificate and key are rarely replaced in one step, so a pair that does not match
 * is reported only after a grace period.
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
  /** The fault of the present files, which may still be in the grace period. */
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
   * Loads the files and starts to watch them.
   * @throws {TlsFilesError} if they cannot be used
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

  /** If a directory cannot be watched, the poll tries again. */
  #watch(): void {
    for (const fault of this.#watches.update(this.#directories))
      this.#options.log.debug(() => `TLS: cannot watch a directory: ${fault}`);
  }

  /** Several events in a short time cause one reload. */
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
      log.warn(`TLS: reloaded ${paths.cert} and ${paths.key}`);
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
    log.error(withPage(`TLS: the old certificates stay in use: ${fault}`, pageOfCode("BAD_CERTIFICATES")));
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
    throw new TlsFilesError(`cannot read ${path}: ${(error as NodeJS.ErrnoException).code ?? "unknown"}`);
  }
}

/** Checks each file on its own first, so that the message can name it. */
function check({ cert, key, ca }: Certificates, paths: TlsPaths, log: Logger): void {
  const leaf = parseCertificates(cert, paths.cert)[0]!;
  const privateKey = attempt(`${paths.key} does not contain a readable private key`, () =>
    createPrivateKey(key),
  );
  if (!leaf.checkPrivateKey(privateKey))
    throw new TlsFilesError(`${paths.key} is not the key of the first certificate in ${paths.cert}`);
  if (ca !== undefined) parseCertificates(ca, paths.clientCa!);
  attempt(`cannot use ${paths.cert} and ${paths.key}`, () =>
    process.getBuiltinModule("node:tls").createSecureContext({ cert, key, ca }),
  );
  if (leaf.validToDate.getTime() < Date.now())
    log.warn(`TLS: the certificate in ${paths.cert} expired at ${leaf.validToDate.toISOString()}`);
}

const pemCertificate = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

function parseCertificates(pem: string, path: string): X509Certificate[] {
  const blocks = pem.match(pemCertificate);
  if (blocks === null) throw new TlsFilesError(`${path} does not contain a PEM certificate`);
  return blocks.map((block, i) =>
    attempt(`cannot read certificate ${i + 1} in ${path}`, () => new X509Certificate(block)),
  );
}

/** Reports only the code of an error: the library's messages may quote the file's contents. */
function attempt<T>(message: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw new TlsFilesError(`${message}: ${(error as NodeJS.ErrnoException).code ?? "unknown"}`);
  }
}

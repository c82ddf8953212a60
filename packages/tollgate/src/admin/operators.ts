/** The operators of the admin API: names with tokens, and clients with a certificate. */
import { createHash, timingSafeEqual } from "node:crypto";
import { readFileSync } from "node:fs";
import type { IncomingMessage } from "node:http";
import type { PeerCertificate, TLSSocket } from "node:tls";
import type { Logger } from "../observe/log.ts";
import { pageOfCode, withPage } from "../text/manual.ts";

export interface OperatorOptions {
  /** `ADMIN_TOKENS`: names and tokens. */
  readonly tokens: readonly (readonly [name: string, token: { reveal(): string }])[];
  /** `ADMIN_TOKEN_FILE`. */
  readonly tokenFile: string | undefined;
  /** Whether each caller has a certificate that the TLS listener has verified. */
  readonly certificates: boolean;
  /** Returns the reason why a name with its token cannot be used; undefined if it can. */
  readonly faultOf: (name: string, token: string) => string | undefined;
  readonly log: Logger;
  /** Milliseconds between two looks at the file. Default 1,000. */
  readonly poll?: number;
}

/** A file of tokens that cannot be used. */
export class TokenFileError extends Error {
  override readonly name = "TokenFileError";
  readonly code = "BAD_TOKEN_FILE";
}

interface Operator {
  readonly name: string;
  /** The token's SHA-256: digests have the same length, so a comparison shows nothing about the token. */
  readonly digest: Buffer;
}

/** More than any team has. Each request compares its token with all of them. */
const MOST_OPERATORS = 1000;
const MOST_BYTES = 1024 * 1024;

export class Operators {
  readonly #options: OperatorOptions;
  readonly #fixed: readonly Operator[];
  #fromFile: readonly Operator[] = [];
  #text = "";
  #fault = "";
  readonly #poll: NodeJS.Timeout | undefined;

  /** @throws {TokenFileError} if the file cannot be used */
  constructor(options: OperatorOptions) {
    this.#options = options;
    this.#fixed = options.tokens.map(([name, token]) => operatorOf(name, token.reveal()));
    if (options.tokenFile === undefined) return;
    this.#read(options.tokenFile);
    // Kubernetes swaps links, and editors rename: a poll sees every kind of change.
    this.#poll = setInterval(() => this.#reload(options.tokenFile!), options.poll ?? 1000).unref();
  }

  /** The name of the operator that sent a request; undefined if it has no valid credential. */
  nameOf(request: IncomingMessage): string | undefined {
    const certificate = this.#options.certificates ? nameInCertificate(request) : undefined;
    if (this.#options.certificates && certificate === undefined) return undefined;
    const needsToken = this.#fixed.length > 0 || this.#options.tokenFile !== undefined;
    return needsToken ? this.#nameOfToken(request.headers.authorization) : certificate;
  }

  /** Whether a header from another port has an operator's token. False if operators need a certificate. */
  acceptToken(authorization: string | null): boolean {
    return !this.#options.certificates && this.#nameOfToken(authorization ?? undefined) !== undefined;
  }

  close(): void {
    clearInterval(this.#poll);
  }

  #nameOfToken(authorization: string | undefined): string | undefined {
    const token = /^Bearer +([\x21-\x7e]+) *$/i.exec(authorization ?? "")?.[1];
    if (token === undefined) return undefined;
    const digest = digestOf(token);
    let name: string | undefined;
    // Compares with all of them, so that the time does not show which one is similar.
    for (const operators of [this.#fixed, this.#fromFile])
      for (const operator of operators) if (timingSafeEqual(operator.digest, digest)) name ??= operator.name;
    return name;
  }

  #reload(path: string): void {
    try {
      if (!this.#read(path)) return;
      this.#options.log.warn(`the admin API uses the new tokens of ${path}`);
    } catch (error) {
      const fault = (error as Error).message;
      if (fault !== this.#fault)
        this.#options.log.error(
          withPage(`${fault}; the earlier tokens stay in use`, pageOfCode("BAD_TOKEN_FILE")),
        );
      this.#fault = fault;
    }
  }

  /** @returns whether the file has changed */
  #read(path: string): boolean {
    const text = readText(path);
    if (text === this.#text) return false;
    this.#fromFile = parse(text, path, this.#options.faultOf);
    this.#text = text;
    this.#fault = "";
    return true;
  }
}

function readText(path: string): string {
  try {
    const bytes = readFileSync(path);
    if (bytes.length <= MOST_BYTES) return bytes.toString("utf8");
  } catch (error) {
    throw new TokenFileError(`cannot read ${path}: ${(error as NodeJS.ErrnoException).code ?? "unknown"}`);
  }
  throw new TokenFileError(`${path} is larger than ${MOST_BYTES} bytes`);
}

function parse(text: string, path: string, faultOf: OperatorOptions["faultOf"]): readonly Operator[] {
  const operators = new Map<string, Operator>();
  for (const [index, line] of text.split("\n").entries()) {
    const trimmed = line.trim();
    if (trimmed === "" || trimmed.startsWith("#")) continue;
    const where = `${path}, line ${index + 1}`;
    const at = trimmed.indexOf(":");
    if (at <= 0) throw new TokenFileError(`${where}: must be name:token`);
    const name = trimmed.slice(0, at);
    const token = trimmed.slice(at + 1).trim();
    const fault = faultOf(name, token);
    if (fault !== undefined) throw new TokenFileError(`${where}: ${fault}`);
    if (operators.has(name)) throw new TokenFileError(`${where}: must contain ${name} only once`);
    operators.set(name, operatorOf(name, token));
  }
  if (operators.size === 0) throw new TokenFileError(`${path} contains no token: write a line name:token`);
  if (operators.size > MOST_OPERATORS)
    throw new TokenFileError(`${path} has ${operators.size} tokens; the maximum is ${MOST_OPERATORS}`);
  return [...operators.values()];
}

function operatorOf(name: string, token: string): Operator {
  return { name, digest: digestOf(token) };
}

function digestOf(token: string): Buffer {
  return createHash("sha256").update(token).digest();
}

/** The common name of a verified certificate, or else its first alternative name. */
function nameInCertificate({ socket }: IncomingMessage): string | undefined {
  const { authorized } = socket as TLSSocket;
  if (authorized !== true) return undefined;
  const certificate: Partial<PeerCertificate> = (socket as TLSSocket).getPeerCertificate();
  const common = certificate.subject?.CN;
  const name = Array.isArray(common) ? common[0] : common;
  return name ?? certificate.subjectaltname?.split(", ")[0]?.replace(/^[A-Za-z ]+:/, "") ?? "certificate";
}

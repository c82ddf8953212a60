/** Certificates for one test run, made by openssl in a folder that goes afterwards. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface KeyPair {
  readonly key: Buffer;
  readonly cert: Buffer;
}

/** A certificate authority, and certificates for `localhost` and for clients that it signed. */
export class Authority {
  readonly #folder = mkdtempSync(join(tmpdir(), "grpc-wire-ca-"));
  readonly ca: Buffer;

  constructor(name: string) {
    this.#openssl(
      "req",
      "-x509",
      "-newkey",
      "ec",
      "-pkeyopt",
      "ec_paramgen_curve:prime256v1",
      "-nodes",
      "-days",
      "2",
      "-keyout",
      "ca.key",
      "-out",
      "ca.pem",
      "-subj",
      `/CN=${name}`,
    );
    this.ca = readFileSync(join(this.#folder, "ca.pem"));
  }

  issue(name: string, algorithm: "ec" | "rsa" = "ec"): KeyPair {
    writeFileSync(join(this.#folder, "ext"), `subjectAltName=DNS:${name},IP:127.0.0.1\n`);
    const newKey = algorithm === "ec" ? ["ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"] : ["rsa:2048"];
    this.#openssl(
      "req",
      "-newkey",
      ...newKey,
      "-nodes",
      "-keyout",
      "leaf.key",
      "-out",
      "leaf.csr",
      "-subj",
      `/CN=${name}`,
    );
    this.#openssl(
      "x509",
      "-req",
      "-in",
      "leaf.csr",
      "-CA",
      "ca.pem",
      "-CAkey",
      "ca.key",
      "-CAcreateserial",
      "-days",
      "2",
      "-extfile",
      "ext",
      "-out",
      "leaf.pem",
    );
    return {
      key: readFileSync(join(this.#folder, "leaf.key")),
      cert: readFileSync(join(this.#folder, "leaf.pem")),
    };
  }

  remove(): void {
    rmSync(this.#folder, { recursive: true });
  }

  #openssl(...args: string[]): void {
    execFileSync("openssl", args, { cwd: this.#folder, stdio: "pipe" });
  }
}

import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A certificate and its key: paths and PEM texts. */
export interface Pair {
  readonly cert: string;
  readonly key: string;
  readonly certPem: Buffer;
  readonly keyPem: Buffer;
}

/** A certificate authority for tests, created by openssl in its own folder. */
export class Authority {
  readonly folder = mkdtempSync(join(tmpdir(), "tollgate-ca-"));
  readonly cert: string;
  readonly pem: Buffer;

  constructor(name = "tests") {
    this.cert = join(this.folder, "ca.pem");
    this.#openssl(
      "req",
      "-x509",
      ...newKey("ca.key"),
      "-out",
      "ca.pem",
      "-days",
      "2",
      "-subj",
      `/CN=${name}`,
    );
    this.pem = readFileSync(this.cert);
  }

  /** @param days of validity; negative for an expired certificate */
  issue(name: string, subjectAltName: string, days = 2): Pair {
    writeFileSync(join(this.folder, `${name}.ext`), `subjectAltName=${subjectAltName}\n`);
    this.#openssl("req", ...newKey(`${name}.key`), "-out", `${name}.csr`, "-subj", `/CN=${name}`);
    const signing = ["-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-extfile", `${name}.ext`];
    this.#openssl(
      "x509",
      "-req",
      "-in",
      `${name}.csr`,
      ...signing,
      "-out",
      `${name}.pem`,
      "-days",
      String(days),
    );
    const [cert, key] = [join(this.folder, `${name}.pem`), join(this.folder, `${name}.key`)];
    return { cert, key, certPem: readFileSync(cert), keyPem: readFileSync(key) };
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }

  #openssl(...args: string[]): void {
    execFileSync("openssl", args, { cwd: this.folder, stdio: "pipe" });
  }
}

function newKey(file: string): string[] {
  return ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", file];
}

/** Certificates by openssl, once for each test process: an authority with a server and a client, and unrelated ones. */
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { folderOfThisProcess } from "./process.ts";

export interface Certificates {
  readonly folder: string;
  readonly ca: string;
  /** The certificate for `localhost` and 127.0.0.1. */
  readonly server: string;
  readonly serverKey: string;
  /** A certificate for the same names, with another subject. */
  readonly renewed: string;
  readonly renewedKey: string;
  /** A certificate for `elsewhere.example` only. */
  readonly wrongName: string;
  readonly wrongNameKey: string;
  readonly client: string;
  readonly clientKey: string;
  /** An authority that signed none of these. */
  readonly otherCa: string;
}

let made: Certificates | undefined;

export function certificates(): Certificates {
  made ??= make();
  return made;
}

function make(): Certificates {
  const folder = folderOfThisProcess("tls");
  const at = (name: string) => join(folder, name);
  const openssl = (...args: string[]) => execFileSync("openssl", args, { stdio: "ignore", cwd: folder });
  const key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
  const authority = (name: string) =>
    openssl(
      "req",
      "-x509",
      ...key,
      "-keyout",
      `${name}.key`,
      "-out",
      `${name}.pem`,
      "-days",
      "2",
      "-subj",
      `/CN=${name}`,
    );
  const signed = (name: string, extensions: string) => {
    writeFileSync(at(`${name}.ext`), extensions);
    openssl("req", ...key, "-keyout", `${name}.key`, "-out", `${name}.csr`, "-subj", `/CN=${name}`);
    openssl(
      ...["x509", "-req", "-in", `${name}.csr`, "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial"],
      ...["-out", `${name}.pem`, "-days", "2", "-extfile", `${name}.ext`],
    );
  };
  authority("ca");
  authority("otherCa");
  signed("server", "subjectAltName=DNS:localhost,IP:127.0.0.1\n");
  signed("renewed", "subjectAltName=DNS:localhost,IP:127.0.0.1\n");
  signed("wrongName", "subjectAltName=DNS:elsewhere.example\n");
  signed("client", "extendedKeyUsage=clientAuth\n");
  return {
    folder,
    ca: at("ca.pem"),
    server: at("server.pem"),
    serverKey: at("server.key"),
    renewed: at("renewed.pem"),
    renewedKey: at("renewed.key"),
    wrongName: at("wrongName.pem"),
    wrongNameKey: at("wrongName.key"),
    client: at("client.pem"),
    clientKey: at("client.key"),
    otherCa: at("otherCa.pem"),
  };
}

import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import type { NetConnectOpts } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { bareEnvironment } from "../test/tollgate.ts";
import type { Addresses, Measure } from "./victim-process.ts";

const rules = `
domain: fuzz
descriptors:
  - key: user
    rate_limit: { unit: second, requests_per_unit: 3 }
  - key: path
    value: "/a*"
    detailed_metric: true
    rate_limit: { unit: minute, requests_per_unit: 100 }
  - key: tenant
    value_to_metric: true
    rate_limit: { unit: day, requests_per_unit: 1000 }
    descriptors:
      - key: k
        detailed_metric: true
        rate_limit: { unit: hour, requests_per_unit: 10 }
  - key: k
    detailed_metric: true
    rate_limit: { unit: hour, requests_per_unit: 100 }
`;

/** A real Tollgate in its own process. */
export class Victim implements AsyncDisposable {
  readonly grpc: NetConnectOpts;
  readonly http: NetConnectOpts;
  readonly #process: ChildProcess;
  readonly #folder: string;
  #errors = "";

  private constructor(child: ChildProcess, folder: string, addresses: Addresses) {
    this.#process = child;
    this.#folder = folder;
    this.grpc = place(addresses.grpc);
    this.http = place(addresses.http);
    child.stderr!.setEncoding("utf8").on("data", (text: string) => {
      this.#errors = (this.#errors + text).slice(-20_000);
    });
  }

  static async start(): Promise<Victim> {
    const folder = mkdtempSync(join(tmpdir(), "tollgate-fuzz-"));
    mkdirSync(join(folder, "config"));
    writeFileSync(join(folder, "config", "fuzz.yaml"), rules);
    const child = fork(join(import.meta.dirname, "victim-process.ts"), {
      execArgv: ["--expose-gc"],
      stdio: ["ignore", "ignore", "pipe", "ipc"],
      env: {
        ...bareEnvironment,
        RUNTIME_ROOT: folder,
        RUNTIME_WATCH_ROOT: "false",
        BACKEND_TYPE: "embedded",
        EMBEDDED_STORE_SIZE_IN_BYTES: "16777216",
        LOCAL_CACHE_SIZE_IN_BYTES: "1048576",
        DISABLE_STATS: "true",
        LOG_LEVEL: "error",
        WORKERS: "1",
        HOST: "127.0.0.1",
        PORT: "0",
        GRPC_HOST: "127.0.0.1",
        GRPC_PORT: "0",
        DEBUG_HOST: "127.0.0.1",
        DEBUG_PORT: "0",
      },
    });
    const [addresses] = (await once(child, "message")) as [Addresses];
    return new Victim(child, folder, addresses);
  }

  /** The process's standard error, and its exit if it has ended. */
  get complaints(): string {
    const { exitCode, signalCode } = this.#process;
    const end = exitCode === null && signalCode === null ? "" : `it ended (${signalCode ?? exitCode})\n`;
    return end + this.#errors;
  }

  measure(): Promise<Measure> {
    const child = this.#process;
    return new Promise((resolve, reject) => {
      const settle = (measure?: Measure) => {
        child.off("message", settle);
        child.off("exit", onExit);
        if (measure !== undefined) resolve(measure);
        else reject(new Error(`the service ended: ${this.complaints}`));
      };
      const onExit = () => settle();
      child.on("message", settle);
      child.on("exit", onExit);
      if (child.connected) child.send("measure");
      else settle();
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#process.connected) {
      this.#process.disconnect();
      await once(this.#process, "exit");
    }
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

function place(address: string): NetConnectOpts {
  const at = address.lastIndexOf(":");
  return { host: address.slice(0, at), port: Number(address.slice(at + 1)) };
}

/** Calls the admin API of a running Tollgate. */
import { request } from "node:http";
import type { RunningTollgate } from "./tollgate.ts";

export const ALICE = "alice-0123456789abcdef0123456789abcdef";
export const BOB = "bob-0123456789abcdef0123456789abcdef";

export const adminEnv: Readonly<Record<string, string>> = {
  ADMIN_PORT: "0",
  ADMIN_TOKENS: `alice:${ALICE},bob:${BOB}`,
};

export function adminAddress(tollgate: RunningTollgate): string {
  const line = tollgate.log.find((text) => text.includes("Listening for admin on"));
  return /on '([^']+)'/.exec(line ?? "")?.[1] ?? "";
}

export interface AdminAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  // biome-ignore lint/suspicious/noExplicitAny: tests read any member
  readonly json: any;
}

export interface AdminCall {
  readonly method?: string;
  readonly token?: string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

/** A call with Node's client, which sends any method and any `Host`. */
export function adminCall(address: string, path: string, call: AdminCall = {}): Promise<AdminAnswer> {
  const { method = "GET", token, headers = {}, body } = call;
  const text = body === undefined ? undefined : typeof body === "string" ? body : JSON.stringify(body);
  const [host, port] = address.split(":");
  return new Promise((resolve, reject) => {
    const sent = request({
      host,
      port: Number(port),
      path,
      method,
      agent: false,
      headers: {
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        ...(text !== undefined && {
          "content-type": "application/json",
          // Node sends a body of DELETE without its length otherwise.
          "content-length": String(Buffer.byteLength(text)),
        }),
        ...headers,
      },
    });
    sent.on("error", reject);
    sent.on("response", (response) => {
      let answer = "";
      response.setEncoding("utf8").on("data", (chunk: string) => {
        answer += chunk;
      });
      response.on("end", () =>
        resolve({
          status: response.statusCode!,
          headers: response.headers,
          json: answer === "" ? undefined : JSON.parse(answer),
        }),
      );
    });
    sent.end(text);
  });
}

/** Calls as one operator. */
export class AdminClient {
  readonly address: string;
  readonly #token: string;

  constructor(tollgate: RunningTollgate, token = ALICE) {
    this.address = adminAddress(tollgate);
    this.#token = token;
  }

  get(path: string): Promise<AdminAnswer> {
    return adminCall(this.address, `/admin/v1/${path}`, { token: this.#token });
  }

  counter(domain: string, descriptor: string): Promise<AdminAnswer> {
    return this.get(`counters?${new URLSearchParams({ domain, descriptor })}`);
  }

  post(path: string, body: unknown): Promise<AdminAnswer> {
    return adminCall(this.address, `/admin/v1/${path}`, { method: "POST", token: this.#token, body });
  }

  put(path: string, body: unknown): Promise<AdminAnswer> {
    return adminCall(this.address, `/admin/v1/${path}`, { method: "PUT", token: this.#token, body });
  }

  delete(path: string, body?: unknown): Promise<AdminAnswer> {
    return adminCall(this.address, `/admin/v1/${path}`, { method: "DELETE", token: this.#token, body });
  }
}

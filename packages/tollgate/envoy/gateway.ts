import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import {
  Agent,
  createServer,
  get,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type RequestListener,
  type Server,
} from "node:http";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

export interface GatewayOptions {
  /** `host:port` of the rate limit service. */
  readonly rateLimitService: string;
  /** Envoy's `failure_mode_deny`; omitted if undefined, as in most configurations. */
  readonly failureModeDeny?: boolean;
  /** Makes the whole configuration, for an upstream at `host:port`, in the place of this gateway's own. */
  readonly config?: (upstream: string) => object;
  /** The upstream. Default: answers 200. */
  readonly upstream?: RequestListener;
}

/** The part of an answer that a caller sees. */
export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
}

/** A real Envoy in front of an upstream that answers 200, with the HTTP rate limit filter on the header `x-user`. */
export class Gateway implements AsyncDisposable {
  readonly #folder: string;
  readonly #envoy: ChildProcess;
  readonly #upstream: Server;
  readonly #agent = new Agent({ keepAlive: true });
  #port = 0;
  #output = "";

  private constructor(folder: string, envoy: ChildProcess, upstream: Server) {
    this.#folder = folder;
    this.#envoy = envoy;
    this.#upstream = upstream;
    for (const stream of [envoy.stdout!, envoy.stderr!])
      stream.setEncoding("utf8").on("data", (text: string) => {
        this.#output = (this.#output + text).slice(-10_000);
      });
  }

  static async start(options: GatewayOptions): Promise<Gateway> {
    const upstream = createServer(
      { maxHeaderSize: 1024 * 1024 },
      options.upstream ?? ((_, response) => response.end("upstream")),
    );
    await once(upstream.listen(0, "127.0.0.1"), "listening");
    const { port } = upstream.address() as { port: number };
    const folder = mkdtempSync(join(tmpdir(), "tollgate-envoy-"));
    const config = join(folder, "envoy.json");
    const own = (address: string) => bootstrap(address, options);
    writeFileSync(config, JSON.stringify((options.config ?? own)(`127.0.0.1:${port}`)));
    const args = ["-c", config, "--concurrency", "1", "--use-dynamic-base-id", "--log-level", "warning"];
    const admin = ["--admin-address-path", join(folder, "admin")];
    const envoy = spawn(process.env.ENVOY!, [...args, ...admin], { stdio: ["ignore", "pipe", "pipe"] });
    const gateway = new Gateway(folder, envoy, upstream);
    try {
      await gateway.#ready();
    } catch (error) {
      await gateway[Symbol.asyncDispose]();
      throw error;
    }
    return gateway;
  }

  /** Sends `GET` with the given bytes as the header `x-user`. @returns the status code */
  async ask(user: Uint8Array | string, path = "/"): Promise<number> {
    const socket = connect(this.#port, "127.0.0.1");
    socket.write(`GET ${path} HTTP/1.1\r\nHost: gateway\r\nConnection: close\r\nx-user: `);
    socket.write(user);
    socket.write("\r\n\r\n");
    let text = "";
    for await (const chunk of socket) text += (chunk as Buffer).toString("latin1");
    const status = /^HTTP\/1\.1 (\d{3}) /.exec(text)?.[1];
    if (status === undefined) throw new Error(`Envoy answered ${JSON.stringify(text)}: ${this.#output}`);
    return Number(status);
  }

  /** Sends `GET` over a connection that lasts. @returns the answer, when it is complete */
  async get(path: string, headers: Readonly<Record<string, string>> = {}): Promise<Answer> {
    const options = { host: "127.0.0.1", port: this.#port, path, headers, agent: this.#agent };
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      get(options, resolve).on("error", reject);
    });
    await response.resume().toArray();
    return { status: response.statusCode!, headers: response.headers };
  }

  /** `host:port` of the listener. */
  get address(): string {
    return `127.0.0.1:${this.#port}`;
  }

  /** Waits until a counter or gauge of Envoy has a value that `condition` accepts. */
  async stat(name: string, condition: (value: number) => boolean): Promise<void> {
    for (;;) {
      const text = await this.#admin(`/stats?filter=${encodeURIComponent(name)}`);
      const value = /: (\d+)$/m.exec(text)?.[1];
      if (value !== undefined && condition(Number(value))) return;
      await sleep(10);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#agent.destroy();
    if (this.#running()) {
      this.#envoy.kill("SIGKILL");
      await once(this.#envoy, "exit");
    }
    this.#upstream.closeAllConnections();
    this.#upstream.close();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #running(): boolean {
    return this.#envoy.exitCode === null && this.#envoy.signalCode === null;
  }

  /** Waits until Envoy is live, then reads its port from the admin interface. */
  async #ready(): Promise<void> {
    for (;;) {
      if (!this.#running()) throw new Error(`Envoy did not start: ${this.#output}`);
      const listeners = await this.#admin("/ready").then(
        (text) => (text === "LIVE\n" ? this.#admin("/listeners?format=json") : undefined),
        () => undefined,
      );
      if (listeners !== undefined) {
        const { listener_statuses: statuses } = JSON.parse(listeners) as {
          listener_statuses: { local_address: { socket_address: { port_value: number } } }[];
        };
        this.#port = statuses[0]!.local_address.socket_address.port_value;
        return;
      }
      await sleep(20);
    }
  }

  async #admin(path: string): Promise<string> {
    const address = readFileSync(join(this.#folder, "admin"), "utf8");
    return (await fetch(`http://${address}${path}`)).text();
  }
}

/** Envoy's bootstrap, `envoy.config.bootstrap.v3.Bootstrap` as JSON. */
function bootstrap(upstream: string, { rateLimitService, failureModeDeny }: GatewayOptions) {
  const routes = [
    {
      match: { prefix: "/" },
      route: {
        cluster: "upstream",
        rate_limits: [{ actions: [{ request_headers: { header_name: "x-user", descriptor_key: "user" } }] }],
      },
    },
  ];
  const filters = [
    {
      name: "envoy.filters.http.ratelimit",
      typed_config: {
        "@type": "type.googleapis.com/envoy.extensions.filters.http.ratelimit.v3.RateLimit",
        domain: "gateway",
        // On a busy machine a short timeout would turn a decision into an error, and Envoy would pass the request.
        timeout: "60s",
        ...(failureModeDeny !== undefined && { failure_mode_deny: failureModeDeny }),
        rate_limit_service: {
          transport_api_version: "V3",
          grpc_service: { envoy_grpc: { cluster_name: "ratelimit" } },
        },
      },
    },
    {
      name: "envoy.filters.http.router",
      typed_config: { "@type": "type.googleapis.com/envoy.extensions.filters.http.router.v3.Router" },
    },
  ];
  const manager = {
    "@type":
      "type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager",
    stat_prefix: "gateway",
    route_config: { virtual_hosts: [{ name: "all", domains: ["*"], routes }] },
    http_filters: filters,
  };
  const cluster = (name: string, address: string, more: object = {}) => ({
    name,
    type: "STATIC",
    load_assignment: {
      cluster_name: name,
      endpoints: [{ lb_endpoints: [{ endpoint: { address: socketAddress(address) } }] }],
    },
    ...more,
  });
  const http2 = {
    typed_extension_protocol_options: {
      "envoy.extensions.upstreams.http.v3.HttpProtocolOptions": {
        "@type": "type.googleapis.com/envoy.extensions.upstreams.http.v3.HttpProtocolOptions",
        explicit_http_config: { http2_protocol_options: {} },
      },
    },
  };
  return {
    admin: { address: socketAddress("127.0.0.1:0") },
    static_resources: {
      listeners: [
        {
          name: "gateway",
          address: socketAddress("127.0.0.1:0"),
          filter_chains: [
            {
              filters: [{ name: "envoy.filters.network.http_connection_manager", typed_config: manager }],
            },
          ],
        },
      ],
      clusters: [cluster("upstream", upstream), cluster("ratelimit", rateLimitService, http2)],
    },
  };
}

function socketAddress(address: string) {
  const [host, port] = address.split(":");
  return { socket_address: { address: host, port_value: Number(port) } };
}

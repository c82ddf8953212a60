const http = "type.googleapis.com/envoy.extensions.filters.http";

const socketAddress = (port: number) => ({ socket_address: { address: "127.0.0.1", port_value: port } });

function cluster(name: string, port: number, isHttp2: boolean): object {
  const options = {
    "@type": "type.googleapis.com/envoy.extensions.upstreams.http.v3.HttpProtocolOptions",
    explicit_http_config: { http2_protocol_options: {} },
  };
  return {
    name,
    type: "STATIC",
    load_assignment: {
      cluster_name: name,
      endpoints: [{ lb_endpoints: [{ endpoint: { address: socketAddress(port) } }] }],
    },
    ...(isHttp2 && {
      typed_extension_protocol_options: {
        "envoy.extensions.upstreams.http.v3.HttpProtocolOptions": options,
      },
    }),
  };
}

/** With tracing, Envoy samples every request, and gives each call a `traceparent`. Nobody receives the spans. */
const tracing = {
  random_sampling: { value: 100 },
  provider: {
    name: "envoy.tracers.opentelemetry",
    typed_config: {
      "@type": "type.googleapis.com/envoy.config.trace.v3.OpenTelemetryConfig",
      grpc_service: { envoy_grpc: { cluster_name: "spans" } },
      service_name: "gateway",
    },
  },
};

/** A listener of Envoy, and the rate limit service that it asks. */
export interface Gateway {
  readonly port: number;
  readonly service: number;
  readonly isTraced: boolean;
}

/** Envoy's bootstrap: a listener for each gateway, all with one upstream. */
export function bootstrap(upstream: number, gateways: readonly Gateway[]): object {
  return {
    static_resources: {
      listeners: gateways.map(listener),
      clusters: [
        cluster("upstream", upstream, false),
        cluster("spans", 1, true),
        ...gateways.map(({ port, service }) => cluster(`ratelimit-${port}`, service, true)),
      ],
    },
  };
}

/** A listener with the two descriptors of the gateway's workload: path and client address, and tenant. */
function listener({ port, isTraced }: Gateway): object {
  const path = { request_headers: { header_name: ":path", descriptor_key: "path" } };
  const tenant = { request_headers: { header_name: "x-tenant", descriptor_key: "tenant" } };
  const limits = [{ actions: [path, { remote_address: {} }] }, { actions: [tenant] }];
  const manager = {
    "@type":
      "type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager",
    stat_prefix: "gateway",
    ...(isTraced && { tracing }),
    route_config: {
      virtual_hosts: [
        {
          name: "all",
          domains: ["*"],
          routes: [{ match: { prefix: "/" }, route: { cluster: "upstream", rate_limits: limits } }],
        },
      ],
    },
    http_filters: [
      {
        name: "envoy.filters.http.ratelimit",
        typed_config: {
          "@type": `${http}.ratelimit.v3.RateLimit`,
          domain: "bench",
          timeout: "10s",
          failure_mode_deny: true,
          rate_limit_service: {
            transport_api_version: "V3",
            grpc_service: { envoy_grpc: { cluster_name: `ratelimit-${port}` } },
          },
        },
      },
      { name: "envoy.filters.http.router", typed_config: { "@type": `${http}.router.v3.Router` } },
    ],
  };
  return {
    name: `gateway-${port}`,
    address: socketAddress(port),
    filter_chains: [
      { filters: [{ name: "envoy.filters.network.http_connection_manager", typed_config: manager }] },
    ],
  };
}

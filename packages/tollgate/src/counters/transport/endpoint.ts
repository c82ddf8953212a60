import { showAddress } from "../../text/address.ts";

/** The address of a server. */
export type Endpoint =
  | { readonly host: string; readonly port: number }
  /** A unix domain socket. */
  | { readonly path: string };

/** `host:port`, `[v6 address]:port` or a path. Equal endpoints have equal strings. */
export function formatEndpoint(endpoint: Endpoint): string {
  if ("path" in endpoint) return endpoint.path;
  return showAddress(endpoint.host, endpoint.port);
}

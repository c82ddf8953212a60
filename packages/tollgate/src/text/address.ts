/** Formats a host and a port: `127.0.0.1:8080`, `[::1]:8080`. */
export function showAddress(host: string, port: number): string {
  return host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
}

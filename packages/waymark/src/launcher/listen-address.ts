import { LauncherError } from "./launcher-error.ts";

export interface HostAndPort {
  /** Undefined: all interfaces. */
  readonly host: string | undefined;
  readonly port: number;
}

const DEFAULT_PORT = 8000;

/** Parses `localhost:8000`, `:8000`, `[::1]:8000`, `0.0.0.0`. */
export function parseHost(text: string): HostAndPort {
  const match = /^(?:\[([0-9a-fA-F:.%]+)\]|([^:[\]\s/]*))(?::(\d+))?$/.exec(text);
  const port = match?.[3] === undefined ? DEFAULT_PORT : Number(match[3]);
  if (match === null || port > 65_535) {
    throw new LauncherError(
      `--host=${text} is not host:port: write localhost:8000, :8000 for every interface, or [::1]:8000`,
      2,
    );
  }
  return { host: (match[1] ?? match[2]) || undefined, port };
}

/** The error for an address that a server cannot listen on. */
export function listenFault(error: NodeJS.ErrnoException, host: string): Error {
  if (error.code === "EADDRINUSE")
    return new LauncherError(`${host} is already in use: choose another with --host=host:port`);
  if (error.code === "EACCES")
    return new LauncherError(`${host}: this user has no permission to listen on it`);
  if (error.code === "EADDRNOTAVAIL" || error.code === "ENOTFOUND" || error.code === "EAI_AGAIN")
    return new LauncherError(`${host} is not an address of this machine`);
  return error;
}

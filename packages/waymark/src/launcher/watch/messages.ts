/** A message of the watched process to its watcher. */
export type WatchedMessage =
  /** The files to watch, and the folders of controllers. Sent after each start or reload, also after a failed one. */
  | { readonly files: readonly string[]; readonly folders: readonly string[] }
  /** The process takes connections, which come with messages `{ connection: true }`. */
  | { readonly accepting: true }
  /** A reload is over, successful or not. */
  | { readonly reloaded: true }
  /** The changes need a new process. */
  | { readonly restart: true }
  /** Why the process could not start. */
  | { readonly failed: string };

/** A message of the watcher. */
export type WatcherMessage = { readonly connection: true } | { readonly changed: readonly string[] };

/** The environment variable of a watched process: the port of its watcher, or 0 if it has none. */
export const WATCHED = "WAYMARK_WATCHED";

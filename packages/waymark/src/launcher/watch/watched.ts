import type { Server } from "node:http";
import type { Socket } from "node:net";
import type { NodeApplication as Application } from "../../application/node/node-application.ts";
import type { ApplicationOptions } from "../../application/options.ts";
import { allowReloads, isReloadableFile, nextGeneration } from "../../routing/generations.ts";
import { ownedFiles } from "../../routing/module-hooks.ts";
import type { Routes } from "../../routing/routes.ts";
import type { HttpServerOptions, Intake } from "../../serve/node/http-server.ts";
import type { ServerOptions } from "../../serve/node/node-server.ts";
import { controllerFiles, controllerFolders } from "./folders.ts";
import { WATCHED, type WatchedMessage, type WatcherMessage } from "./messages.ts";
import { loggingListener } from "./request-log.ts";

/** Node never frees a module that it has imported. A new process does. */
const MOST_RELOADS = 300;

/** Sends the watcher the files to watch. Called even if startup failed, then without an application. */
export function tellFiles(options?: ApplicationOptions, origins: readonly string[] = []): void {
  const files = [...new Set([...ownedFiles(), ...origins])];
  tell({ files, folders: options === undefined ? [] : controllerFolders(options) });
  if (process.listenerCount("disconnect") > 0) return;
  // Without its watcher, a server would keep the port and could not be restarted.
  process.once("disconnect", () => process.exit(0));
}

/** Sends the watcher the reason for a failed start. */
export function tellFault(fault: string): void {
  tellFiles();
  tell({ failed: fault });
}

function tell(message: WatchedMessage): void {
  process.send?.(message);
}

/** The option for connections of the watcher's port. Undefined if this process opens its own port. */
export function watchedIntake(): Pick<HttpServerOptions, "intake"> | undefined {
  const port = Number(process.env[WATCHED]);
  if (!(port > 0)) return undefined;
  const intake = (server: Server): Intake => {
    const sockets = new Set<Socket>();
    let closed = () => {};
    const onMessage = (message: WatcherMessage, handle: unknown) => {
      if (!("connection" in message) || handle === undefined) return;
      const socket = handle as Socket;
      sockets.add(socket);
      socket.once("close", () => {
        sockets.delete(socket);
        if (sockets.size === 0) closed();
      });
      server.emit("connection", socket);
      socket.resume();
    };
    process.on("message", onMessage);
    // Node's server keeps a list of its connections only after this event.
    server.emit("listening");
    tell({ accepting: true });
    const close = () =>
      new Promise<void>((resolve) => {
        process.off("message", onMessage);
        closed = () => server.close(() => resolve());
        if (sockets.size === 0) closed();
        else server.closeIdleConnections();
      });
    return { port, close };
  };
  return { intake };
}

/** Allows reloads of an application's controllers. Called before they are loaded. */
export function prepareReloads({ options, reload }: Application): void {
  const test = controllerFiles(options);
  // Another copy of this package may be older.
  if (test !== undefined && typeof reload === "function") allowReloads(test);
}

type Listener = NonNullable<ServerOptions["listener"]>;

/** Adds a log of requests to a listener. */
export function logged(listener: Listener, print: (line: string) => void): Listener {
  return (application, options) => loggingListener(listener(application, options), print);
}

/** A line with the address of the page of the OpenAPI document, or else of the document. Empty without either. */
export function documentLink({ classes }: Routes, address: string): string {
  const page = classes.find(({ name }) => name === "openapi.page");
  const document = page ?? classes.find(({ name }) => name === "openapi.json");
  return document === undefined ? "" : `OpenAPI document: ${address}${document.path}\n`;
}

/** The application to reload, with the functions of its reloads. */
export interface Reload {
  readonly application: Pick<Application, "reload" | "options">;
  /** Runs after the controllers were loaded again. */
  readonly after: (routes: Awaited<ReturnType<Application["reload"]>>) => Promise<void>;
  readonly print: (text: string) => void;
  readonly describe: (error: unknown) => string;
}

/** Reloads the controllers when the watcher reports changes of their files. Asks for a new process for other changes. */
export function reloadOnChange({ application, after, print, describe }: Reload): void {
  let reloads = 0;
  const reload = async (changed: readonly string[]) => {
    const loaded = new Set(ownedFiles());
    // A file that no module imports can only contain types, which every reload reads again.
    const fits = changed.every((file) => isReloadableFile(file) || !loaded.has(file));
    if (!fits || ++reloads > MOST_RELOADS) return tell({ restart: true });
    const start = performance.now();
    let origins: readonly string[] = [];
    try {
      nextGeneration();
      const routes = await application.reload();
      ({ origins } = routes);
      await after(routes);
      print(`reloaded in ${Math.round(performance.now() - start)} ms\n`);
    } catch (error) {
      console.error(`${describe(error)}\nwaymark: the earlier controllers go on serving`);
    }
    tellFiles(application.options, origins);
    tell({ reloaded: true });
  };
  process.on("message", (message: WatcherMessage) => {
    if ("changed" in message) void reload(message.changed);
  });
}

import cluster from "node:cluster";
import { resolve } from "node:path";
import type { NodeApplication as Application } from "../application/node/node-application.ts";
import { formatRoutes, routeLines } from "../routing/describe.ts";
import type { Routes } from "../routing/routes.ts";
import type { RunningServer } from "../serve/node/http-server.ts";
import { nodeListener } from "../serve/node/node-adapter.ts";
import { type ServerOptions, startServer } from "../serve/node/node-server.ts";
import { shownAddress } from "../serve/shown-address.ts";
import type { Arguments } from "./arguments.ts";
import { withFrame } from "./code-frame.ts";
import { faultText } from "./launcher-error.ts";
import { listenFault, parseHost } from "./listen-address.ts";
import { applicationOf } from "./load-application.ts";
import { withPage } from "./manual-pages.ts";
import { WATCHED } from "./watch/messages.ts";

/** Serves until a signal arrives. Resolves with the exit status once all connections have drained. */
export async function serve(args: Arguments, announce: (text: string) => void): Promise<number> {
  const { host, port } = parseHost(args.host);
  const stopped = signalled();
  const application = await applicationOf(args);
  const watched = WATCHED in process.env ? await import("./watch/watched.ts") : undefined;
  watched?.prepareReloads(application);
  const routes = await application.ready();
  const lines = routeLines(routes, resolve(args.dir));
  watched?.tellFiles(application.options, routes.origins);
  await updateTypes(application, routes, args);
  const listener = await listenerOf(args);
  let running: RunningServer;
  try {
    running = await startServer(application, {
      host,
      port,
      listener: watched && !args.quiet ? watched.logged(listener, announce) : listener,
      ...watched?.watchedIntake(),
    });
  } catch (error) {
    throw listenFault(error as NodeJS.ErrnoException, args.host);
  }
  const address = shownAddress(host, running.port);
  const count = `${lines.length} ${lines.length === 1 ? "route" : "routes"}`;
  const notes = routes.notes.map((note) => `note: ${note}\n`).join("");
  const link = watched?.documentLink(routes, address) ?? "";
  announce(`Waymark serves ${address} (${count})\n${link}${args.quiet ? "" : formatRoutes(lines) + notes}`);
  watched?.reloadOnChange({
    application,
    after: (reloaded) => updateTypes(application, reloaded, args),
    print: announce,
    describe: (error) => withPage(withFrame(faultText(error, args.debug)), error),
  });
  await stopped;
  await running.stop();
  return 0;
}

/** Writes the files of `--types` and `--table`. */
async function updateTypes(application: Application, routes: Routes, args: Arguments): Promise<void> {
  if (args.types === undefined && args.table === undefined) return;
  // The start itself asks for no inferred type. The table needs them.
  const described = args.table === undefined ? routes : await application.describe();
  await (await import("./types-command.ts")).writeTypes(application, described, args);
}

/** The listener for the interface of the command line. */
async function listenerOf(args: Arguments): Promise<NonNullable<ServerOptions["listener"]>> {
  if (args.interface === "asgi") return (await import("../serve/node/asgi-listener.ts")).asgiListener;
  if (args.interface === "wsgi") return (await import("../serve/node/wsgi-listener.ts")).wsgiListener;
  return nodeListener;
}

/** Resolves on the first stop signal. A second signal ends the process at once. */
function signalled(): Promise<void> {
  return new Promise((resolve) => {
    let asked = false;
    const onSignal = () => {
      if (asked) process.exit(130);
      asked = true;
      resolve();
    };
    process.on("SIGTERM", onSignal);
    // A terminal sends the interrupt to every process of the group. A worker waits for its parent's signal.
    process.on("SIGINT", cluster.isWorker ? () => undefined : onSignal);
  });
}

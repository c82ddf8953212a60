import { type ChildProcess, fork } from "node:child_process";
import { existsSync, type FSWatcher, globSync, watch as watchFolder } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { prefixesOf } from "../application/options.ts";
import { ownedFiles } from "../routing/module-hooks.ts";
import type { Arguments } from "./arguments.ts";

/** The message of the watched process: the files to watch. */
export interface WatchedMessage {
  readonly files: readonly string[];
}

/** Collects changes for this long: an editor or a branch switch writes several files. */
const SETTLE_MS = 60;
/** Kills a process that has not ended by then, because a drain would delay the restart. */
const PATIENCE_MS = 300;

/** Serves in a child process. Restarts it when one of its files changes or a file is added under the prefix. */
export function watch(args: Arguments): Promise<number> {
  return new Promise((finish) => {
    const watchers = new Map<string, FSWatcher>();
    let files = new Set<string>();
    let child: ChildProcess | undefined;
    let settling: NodeJS.Timeout | undefined;
    let stopping = false;

    const look = () => {
      const folders = new Set([...files].map((file) => dirname(file)));
      for (const folder of prefixFolders(args)) folders.add(folder);
      for (const [folder, watcher] of watchers) {
        if (!folders.has(folder)) {
          watcher.close();
          watchers.delete(folder);
        }
      }
      for (const folder of folders) {
        if (watchers.has(folder) || !existsSync(folder)) continue;
        const watcher = watchFolder(folder, (_event, name) => changed(folder, name));
        watcher.on("error", () => watchers.delete(folder));
        watchers.set(folder, watcher);
      }
    };
    const changed = (folder: string, name: string | null) => {
      const path = name === null ? folder : join(folder, name);
      const under = prefixFolders(args).some((each) => path.startsWith(each));
      if (!files.has(path) && !(under && !/[~#]$|\.swp$|^\.#/.test(name ?? ""))) return;
      clearTimeout(settling);
      settling = setTimeout(restart, SETTLE_MS);
    };
    const start = () => {
      const env = { ...process.env, WAYMARK_WATCHED: "1" };
      const started = fork(process.argv[1]!, process.argv.slice(2), { env });
      child = started;
      started.on("message", (message: WatchedMessage) => {
        files = new Set(message.files);
        look();
      });
      started.on("exit", (code) => {
        if (child === started) child = undefined;
        if (stopping) finish(0);
        else if (code !== 0 && child === undefined) console.error("waymark: waiting for a change");
      });
    };
    const restart = () => {
      const old = child;
      child = undefined;
      look();
      if (old === undefined || old.exitCode !== null) return start();
      const killed = setTimeout(() => old.kill("SIGKILL"), PATIENCE_MS);
      old.once("exit", () => {
        clearTimeout(killed);
        if (!stopping) start();
      });
      old.kill("SIGTERM");
    };
    const onSignal = () => {
      stopping = true;
      clearTimeout(settling);
      for (const watcher of watchers.values()) watcher.close();
      if (child === undefined) finish(0);
      else child.kill("SIGTERM");
    };
    process.on("SIGTERM", onSignal);
    process.on("SIGINT", onSignal);
    look();
    start();
  });
}

/** The folders of the controllers. Watching them detects new files that no module imports yet. */
function prefixFolders(args: Arguments): string[] {
  if (args.app !== undefined) return [dirname(resolve(args.dir, args.app))];
  if (args.manifest !== undefined) return [dirname(resolve(args.dir, args.manifest))];
  const asked = args.prefix.length > 0 ? { controllerPrefix: args.prefix } : {};
  return prefixesOf(asked, process.env.FRAMEWORK_PREFIX).flatMap((prefix) => {
    const folder = join(resolve(args.dir), ...prefix.split("."));
    if (!existsSync(folder)) return [];
    const inner = globSync("**/", { cwd: folder, exclude: ["**/node_modules"] });
    return [folder, ...inner.map((each) => join(folder, each).replace(/\/$/, ""))];
  });
}

/** Sends the list of files to the watcher. Called even if startup failed. */
export function tellWatcher(): void {
  if (!process.env.WAYMARK_WATCHED) return;
  process.send?.({ files: ownedFiles() } satisfies WatchedMessage);
  // Without its watcher, a server would keep the port and could not be restarted.
  process.once("disconnect", () => process.exit(0));
}

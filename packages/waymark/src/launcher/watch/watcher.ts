import { type ChildProcess, fork } from "node:child_process";
import { existsSync, type FSWatcher, watch as watchFolder } from "node:fs";
import { dirname, join } from "node:path";
import { mayBeController } from "./folders.ts";
import type { KeptPort } from "./kept-port.ts";
import { WATCHED, type WatchedMessage, type WatcherMessage } from "./messages.ts";

/** Collects changes for this long: an editor or a branch switch writes several files. */
const SETTLE_MS = 60;
/** Kills a process that has not ended by then, because a drain would delay the restart. */
const PATIENCE_MS = 300;
/** Restarts a process that has not finished a reload by then, such as in an endless loop. */
const RELOAD_MS = 20_000;

/**
 * Serves in a child process, and tells it when files change. It reloads its controllers itself, and asks for a new
 * process for other changes. The port stays open.
 * @param port undefined: the child opens its own
 * @param likely the folders of the controllers, until the child tells them
 */
export function watch(port: KeptPort | undefined, likely: readonly string[]): Promise<number> {
  return new Promise((finish) => {
    const watchers = new Map<string, FSWatcher>();
    const changes = new Set<string>();
    let files = new Set<string>();
    let controllers: ReadonlySet<string> = new Set(likely);
    let child: ChildProcess | undefined;
    let isServing = false;
    let settling: NodeJS.Timeout | undefined;
    let reloading: NodeJS.Timeout | undefined;
    let stopping = false;

    const look = () => {
      const folders = new Set([...controllers, ...[...files].map((file) => dirname(file))]);
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
      if (!files.has(path) && !(controllers.has(folder) && mayBeController(path))) return;
      changes.add(path);
      // A connection waits for the new code, and is not cut off if that needs a new process.
      port?.hold();
      clearTimeout(settling);
      settling = setTimeout(settle, SETTLE_MS);
    };
    const settle = () => {
      // The end of a reload calls this again.
      if (reloading !== undefined || changes.size === 0) return;
      look();
      if (!isServing || child?.connected !== true) return restart();
      const message: WatcherMessage = { changed: [...changes] };
      changes.clear();
      reloading = setTimeout(restart, RELOAD_MS);
      child.send(message);
    };
    const start = () => {
      const env = { ...process.env, [WATCHED]: String(port?.port ?? 0) };
      const started = fork(process.argv[1]!, process.argv.slice(2), { env });
      child = started;
      started.on("message", (message: WatchedMessage) => {
        if (child === started) hear(started, message);
      });
      started.on("exit", (code) => {
        if (child === started) {
          child = undefined;
          isServing = false;
          endReload();
        }
        if (stopping) finish(0);
        else if (code !== 0 && child === undefined) {
          port?.refuse(fault);
          console.error("waymark: waiting for a change");
        }
      });
    };
    let fault = "";
    const hear = (from: ChildProcess, message: WatchedMessage) => {
      if ("files" in message) {
        files = new Set(message.files);
        if (message.folders.length > 0) controllers = new Set(message.folders);
        look();
      } else if ("failed" in message) fault = message.failed;
      else if ("accepting" in message) {
        isServing = true;
        port?.pass(from);
      } else if ("restart" in message) restart();
      else {
        endReload();
        if (changes.size === 0) port?.pass(from);
        settle();
      }
    };
    const endReload = () => {
      clearTimeout(reloading);
      reloading = undefined;
    };
    const restart = () => {
      const old = child;
      child = undefined;
      isServing = false;
      fault = "the process ended";
      changes.clear();
      endReload();
      port?.hold();
      look();
      if (old === undefined || old.exitCode !== null || old.signalCode !== null) return start();
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
      endReload();
      port?.close();
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

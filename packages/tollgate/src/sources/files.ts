import { lstatSync, readdirSync, watch } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { Logger } from "../observe/log.ts";
import { type LoadOptions, loadOptionsOf } from "../rules/check-configs.ts";
import type { Diagnostic } from "../rules/diagnostic.ts";
import { DirectoryWatches } from "../watching/directory-watches.ts";
import type { JobResult } from "./compile-job.ts";
import { type PathEntry, resolvePath } from "./path-links.ts";
import { fingerprintOf, isRuleFile, sizeOfFiles } from "./read-files.ts";
import { CompilerError, type RuleCompiler } from "./rule-compiler.ts";
import { diagnose, type RuleSource, type SourceEvents } from "./source.ts";

export interface FileSourceOptions extends LoadOptions {
  /** `RUNTIME_ROOT` */
  readonly root: string;
  /** `RUNTIME_SUBDIRECTORY` */
  readonly subdirectory: string;
  /** `RUNTIME_APPDIRECTORY` */
  readonly appDirectory: string;
  /** `RUNTIME_IGNOREDOTFILES` */
  readonly ignoreDotFiles: boolean;
  /** `RUNTIME_WATCH_ROOT`: true reloads when a link is replaced; false also when a file in the directory changes. */
  readonly watchRoot: boolean;
  readonly compiler: RuleCompiler;
  readonly log: Logger;
  /** Milliseconds without changes that end a burst of changes. Default 50. */
  readonly settle?: number;
  /**
   * Longest duration of a burst in milliseconds. The source then loads although changes continue. If the files change
   * during each read, it tries again after the same time. Default 1000.
   */
  readonly settleAtMost?: number;
  /** Polling interval in milliseconds for directories that cannot be watched. Default 5000. */
  readonly pollInterval?: number;
  /** Default `fs.watch`. */
  readonly watch?: typeof watch;
}

/** Maximum number of reads in a row of a set that changes while it is read. */
const MAX_ATTEMPTS = 5;
/** Default of `settleAtMost`. */
const SETTLE_AT_MOST = 1000;
/** Up to this number of bytes, the first rules are compiled in this thread: in less time than another thread starts. */
const MAX_BYTES_HERE = 64 * 1024;

/** Loads rules from the `*.yaml` files of one directory. */
export class FileSource implements RuleSource {
  readonly #options: FileSourceOptions;
  readonly #events: SourceEvents;
  readonly #directory: string;
  readonly #watches: DirectoryWatches;
  readonly #stopping = new AbortController();
  /** Names per directory. A change of one of them can change which files are read. */
  #links = new Map<string, Set<string>>();
  /** The directory without symbolic links; undefined while it does not exist. */
  #real: string | undefined;
  #settleTimer: NodeJS.Timeout | undefined;
  /** Monotonic milliseconds at which the current burst ends at the latest; undefined between bursts. */
  #burstEnd: number | undefined;
  #poll: NodeJS.Timeout | undefined;
  #unwatched = "";
  /** Every name on the paths to the files. */
  #trail = "";
  /** The fingerprint of the files at the last read. */
  #fingerprint = "";
  #wanted = false;
  #isFirst = true;
  #loading: Promise<void> | undefined;

  constructor(options: FileSourceOptions, events: SourceEvents) {
    this.#options = options;
    this.#events = events;
    this.#directory = join(options.root, options.subdirectory, options.appDirectory);
    this.#watches = new DirectoryWatches({
      onEvent: (directory, name) => this.#changed(directory, name),
      watch: options.watch ?? watch,
      persistent: true,
    });
  }

  start(): void {
    this.reload();
  }

  reload(): void {
    if (this.#stopping.signal.aborted) return;
    clearTimeout(this.#settleTimer);
    this.#burstEnd = undefined;
    this.#wanted = true;
    this.#run();
  }

  #run(): void {
    this.#loading ??= this.#loadWhileWanted().finally(() => {
      this.#loading = undefined;
      // A reload was requested after the loop's last check.
      if (this.#wanted && !this.#stopping.signal.aborted) this.#run();
    });
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    clearTimeout(this.#settleTimer);
    clearTimeout(this.#poll);
    this.#watches.close();
    await this.#options.compiler.close();
    await this.#loading;
  }

  /** Handles a watch event. A relevant event starts or extends a burst. */
  #changed(directory: string, name: string | null): void {
    if (this.#stopping.signal.aborted || !this.#matters(directory, name)) return;
    const now = performance.now();
    this.#burstEnd ??= now + (this.#options.settleAtMost ?? SETTLE_AT_MOST);
    this.#reloadAfter(Math.min(this.#options.settle ?? 50, Math.max(0, this.#burstEnd - now)));
  }

  #reloadAfter(milliseconds: number): void {
    clearTimeout(this.#settleTimer);
    this.#settleTimer = setTimeout(() => this.reload(), milliseconds);
  }

  #matters(directory: string, name: string | null): boolean {
    if (name === null || this.#links.get(directory)?.has(name)) return true;
    if (directory !== this.#real || !isRuleFile(name, this.#options.ignoreDotFiles)) return false;
    return !this.#options.watchRoot || isLink(join(directory, name));
  }

  async #loadWhileWanted(): Promise<void> {
    while (this.#wanted && !this.#stopping.signal.aborted) {
      this.#wanted = false;
      try {
        const missing = this.#watch();
        if (missing === undefined) await this.#load();
        else await this.#events.onError([missing]);
      } catch (error) {
        // A rejection here would end the process.
        this.#options.log.error(`the configuration could not be applied: ${String(error)}`);
      }
    }
  }

  /** Resolves the path and watches every name on it. Repeats that if the path changes meanwhile. */
  #watch(): Diagnostic | undefined {
    for (let attempt = 1; ; attempt++) {
      this.#follow();
      const before = this.#trail;
      const faults = this.#watches.update(new Set(this.#links.keys()));
      const missing = this.#follow();
      if (this.#trail !== before && attempt < MAX_ATTEMPTS) continue;
      this.#pollInstead(faults);
      if (missing === undefined) return undefined;
      this.#fingerprint = "";
      return diagnose(
        "missing-directory",
        this.#directory,
        `does not exist: ${missing}; check RUNTIME_ROOT, RUNTIME_SUBDIRECTORY and RUNTIME_APPDIRECTORY`,
      );
    }
  }

  /**
   * Resolves the path and the links in the directory.
   * @returns why the path cannot be resolved; undefined if it can
   */
  #follow(): string | undefined {
    const { ignoreDotFiles, watchRoot } = this.#options;
    const path = resolvePath(this.#directory);
    const links = new Map<string, Set<string>>();
    const add = ({ directory, name }: PathEntry): void => {
      const names = links.get(directory);
      if (names === undefined) links.set(directory, new Set([name]));
      else names.add(name);
    };
    const trail = [path.real];
    for (const entry of path.entries) {
      add(entry);
      trail.push(join(entry.directory, entry.name));
    }
    if (path.real !== undefined) {
      if (!links.has(path.real)) links.set(path.real, new Set());
      for (const name of linkedFiles(path.real, ignoreDotFiles))
        for (const entry of resolvePath(name, path.real).entries) {
          if (entry.isLink || !watchRoot) add(entry);
          trail.push(join(entry.directory, entry.name));
        }
    }
    this.#links = links;
    this.#real = path.real;
    this.#trail = trail.join("\0");
    return path.fault;
  }

  /** Polls for changes if a directory cannot be watched. */
  #pollInstead(faults: readonly string[]): void {
    const message = [...new Set(faults)].join("; ");
    if (message !== "" && message !== this.#unwatched)
      this.#options.log.warn(`the configuration cannot be watched and is polled for changes: ${message}`);
    this.#unwatched = message;
    clearTimeout(this.#poll);
    if (message !== "") this.#pollLater();
  }

  #pollLater(): void {
    clearTimeout(this.#poll);
    this.#poll = setTimeout(() => void this.#checkForChanges(), this.#options.pollInterval ?? 5000);
  }

  async #checkForChanges(): Promise<void> {
    const before = this.#trail;
    this.#follow();
    const files = this.#options.watchRoot
      ? this.#fingerprint
      : await fingerprintOf(this.#directory, this.#options.ignoreDotFiles);
    if (this.#trail !== before || files !== this.#fingerprint) this.reload();
    else if (!this.#stopping.signal.aborted) this.#pollLater();
  }

  async #load(): Promise<void> {
    let result: JobResult | undefined;
    try {
      result = await this.#compileWhole();
    } catch (error) {
      if (!(error instanceof CompilerError)) throw error;
      if (!this.#stopping.signal.aborted)
        await this.#events.onError([diagnose("compiler-failed", this.#directory, error.message)]);
      return;
    }
    if (result === undefined) return;
    const { compiled, diagnostics, unsettled } = result;
    // Reads again even if no watch reports the end of the changes.
    if (compiled === undefined && unsettled) this.#reloadAfter(this.#options.settleAtMost ?? SETTLE_AT_MOST);
    if (compiled === undefined) await this.#events.onError(diagnostics);
    else {
      this.#isFirst = false;
      await this.#events.onRules(compiled, diagnostics);
    }
  }

  /** Compiles the files of one set. Returns undefined if the source was stopped meanwhile. */
  async #compileWhole(): Promise<JobResult | undefined> {
    const { signal } = this.#stopping;
    const { compiler, ignoreDotFiles } = this.#options;
    const options = loadOptionsOf(this.#options);
    const directory = this.#directory;
    const isHere = this.#isFirst && (await sizeOfFiles(directory, ignoreDotFiles)) <= MAX_BYTES_HERE;
    for (let attempt = 1; ; attempt++) {
      const isLast = attempt === MAX_ATTEMPTS;
      const job = { kind: "folder", directory, ignoreDotFiles, ...options, isLast } as const;
      const result = await (isHere ? compiler.runHere(job) : compiler.run(job));
      if (signal.aborted) return undefined;
      this.#fingerprint = result.fingerprint;
      if (!result.unsettled || isLast) return result;
      await delay(this.#options.settle ?? 50, undefined, { signal }).catch(() => {});
      if (signal.aborted) return undefined;
      this.#watch();
    }
  }
}

/** Lists the configuration files in a directory that are symbolic links. */
function linkedFiles(directory: string, ignoreDotFiles: boolean): string[] {
  try {
    return readdirSync(directory, { withFileTypes: true })
      .filter((entry) => entry.isSymbolicLink() && isRuleFile(entry.name, ignoreDotFiles))
      .map((entry) => entry.name)
      .sort();
  } catch {
    return []; // Reading the files reports the error.
  }
}

function isLink(path: string): boolean {
  try {
    return lstatSync(path).isSymbolicLink();
  } catch {
    return false; // The name no longer exists. If it was a link, #links contains it.
  }
}

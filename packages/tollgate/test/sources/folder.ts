import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  watch,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

/** A configuration file that defines one domain with one limit. */
export function domain(name: string, requests = 1): string {
  return `domain: ${name}\ndescriptors:\n  - key: k\n    rate_limit: { unit: minute, requests_per_unit: ${requests} }\n`;
}

/** A temporary folder for one test. */
export class Folder {
  readonly path = realpathSync(mkdtempSync(join(tmpdir(), "tollgate-sources-")));

  [Symbol.dispose](): void {
    rmSync(this.path, { recursive: true, force: true });
  }

  at(...parts: string[]): string {
    return join(this.path, ...parts);
  }

  /** Writes files and creates their directories. */
  write(files: Readonly<Record<string, string>>): void {
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(dirname(this.at(name)), { recursive: true });
      writeFileSync(this.at(name), text);
    }
  }

  link(name: string, target: string): void {
    mkdirSync(dirname(this.at(name)), { recursive: true });
    symlinkSync(target, this.at(name));
  }

  /** Replaces a link atomically, like `ln -sfn` and `mv -T`. */
  swap(name: string, target: string): void {
    symlinkSync(target, this.at(`${name}.new`));
    renameSync(this.at(`${name}.new`), this.at(name));
  }

  /** Changes a directory. Resolves when a watch of this process has received the events of all changes. */
  async untilWatched(directory: string, change: () => void): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const watcher = watch(this.at(directory), (_event, name) => {
      if (name === "last") resolve();
    });
    change();
    // Events arrive in the order of the changes, so this event is the last.
    writeFileSync(this.at(directory, "last"), "");
    await promise;
    watcher.close();
  }
}

let generation = 0;

/**
 * Publishes files into a volume like the kubelet's atomic writer: creates a directory with a time stamp, replaces the
 * `..data` link, adds links for new names, removes links of removed names, then removes the old directory.
 */
export function publish(volume: string, files: Readonly<Record<string, string>>): void {
  mkdirSync(volume, { recursive: true });
  const stamp = `..2026_01_02_03_04_05.${++generation}`;
  mkdirSync(join(volume, stamp));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(volume, stamp, name)), { recursive: true });
    writeFileSync(join(volume, stamp, name), text);
  }
  const data = join(volume, "..data");
  const old = readdirSync(volume).includes("..data") ? readlinkSync(data) : undefined;
  symlinkSync(stamp, join(volume, "..data_tmp"));
  renameSync(join(volume, "..data_tmp"), data);
  const visible = new Set(Object.keys(files).map((name) => name.split("/")[0]!));
  const present = new Set(readdirSync(volume).filter((name) => !name.startsWith("..")));
  for (const name of visible) if (!present.has(name)) symlinkSync(join("..data", name), join(volume, name));
  for (const name of present) if (!visible.has(name)) unlinkSync(join(volume, name));
  if (old !== undefined) rmSync(join(volume, old), { recursive: true });
}

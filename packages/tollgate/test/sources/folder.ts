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

/** A folder of its own for one test; removed with all that is in it. */
export class Folder {
  readonly path = realpathSync(mkdtempSync(join(tmpdir(), "tollgate-sources-")));

  [Symbol.dispose](): void {
    rmSync(this.path, { recursive: true, force: true });
  }

  at(...parts: string[]): string {
    return join(this.path, ...parts);
  }

  /** Writes files, and the directories that they need. */
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

  /** Makes a link lead elsewhere in one step, as `ln -sfn` and `mv -T` do. */
  swap(name: string, target: string): void {
    symlinkSync(target, this.at(`${name}.new`));
    renameSync(this.at(`${name}.new`), this.at(name));
  }

  /** Makes changes in a directory; resolves once this process has been told of all of them, so that others have been too. */
  async toldOf(directory: string, change: () => void): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const watcher = watch(this.at(directory), (_event, name) => {
      if (name === "told") resolve();
    });
    change();
    // Events come in the order of what they tell, so this one is the last.
    writeFileSync(this.at(directory, "told"), "");
    await promise;
    watcher.close();
  }
}

let generation = 0;

/**
 * Publishes files into a volume as the kubelet's atomic writer does: a new directory with a time stamp, `..data`
 * swapped to it, then links for new names, then links of names that are gone removed, then the old directory.
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

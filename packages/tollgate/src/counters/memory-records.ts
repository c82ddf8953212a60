/** The records of an operator in this process, for stores without a place for them, and for the embedded store. */
import { type AdminRecords, MAX_AUDIT_LINES, type VersionedText } from "./counter-admin.ts";

export class MemoryRecords implements AdminRecords {
  #version = 0;
  #text = "";
  /** Oldest first. */
  #lines: string[] = [];
  readonly #save: (records: SavedRecords) => Promise<void>;
  /** The end of the last change. */
  #last: Promise<unknown> = Promise.resolve();

  /** @param save writes the records. Its calls follow each other. */
  constructor(saved?: SavedRecords, save: (records: SavedRecords) => Promise<void> = async () => {}) {
    this.#save = save;
    if (saved === undefined) return;
    this.#version = saved.version;
    this.#text = saved.overrides;
    this.#lines = [...saved.audit].slice(-MAX_AUDIT_LINES);
  }

  async readOverrides(): Promise<VersionedText> {
    return { version: this.#version, text: this.#text };
  }

  async overridesVersion(): Promise<number> {
    return this.#version;
  }

  /** Changes nothing if the records cannot be saved. */
  replaceOverrides(version: number, text: string): Promise<number | undefined> {
    return this.#inTurn(async () => {
      if (version !== this.#version) return undefined;
      const next = version + 1;
      await this.#save({ version: next, overrides: text, audit: this.#lines });
      this.#version = next;
      this.#text = text;
      return next;
    });
  }

  /** A line that cannot be saved is saved with the next change. */
  addAudit(line: string): Promise<void> {
    return this.#inTurn(async () => {
      this.#lines.push(line);
      if (this.#lines.length > MAX_AUDIT_LINES) this.#lines.shift();
      await this.#save({ version: this.#version, overrides: this.#text, audit: this.#lines });
    });
  }

  async audit(most: number): Promise<readonly string[]> {
    return this.#lines.slice(-most).reverse();
  }

  #inTurn<Result>(change: () => Promise<Result>): Promise<Result> {
    const result = this.#last.then(change);
    this.#last = result.catch(() => undefined);
    return result;
  }
}

/** The content of a file of records. */
export interface SavedRecords {
  readonly version: number;
  readonly overrides: string;
  /** Oldest first. */
  readonly audit: readonly string[];
}

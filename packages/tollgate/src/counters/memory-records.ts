/** The records of an operator in this process, for stores without a place for them, and for the embedded store. */
import { type AdminRecords, MAX_AUDIT_LINES, type VersionedText } from "./counter-admin.ts";

export class MemoryRecords implements AdminRecords {
  #version = 0;
  #text = "";
  /** Oldest first. */
  #lines: string[] = [];
  /** Saves the records after a change. */
  readonly #save: (records: SavedRecords) => Promise<void>;

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

  async replaceOverrides(version: number, text: string): Promise<number | undefined> {
    if (version !== this.#version) return undefined;
    this.#version += 1;
    this.#text = text;
    await this.#save(this.#saved());
    return this.#version;
  }

  async addAudit(line: string): Promise<void> {
    this.#lines.push(line);
    if (this.#lines.length > MAX_AUDIT_LINES) this.#lines.shift();
    await this.#save(this.#saved());
  }

  async audit(most: number): Promise<readonly string[]> {
    return this.#lines.slice(-most).reverse();
  }

  #saved(): SavedRecords {
    return { version: this.#version, overrides: this.#text, audit: this.#lines };
  }
}

/** The content of a file of records. */
export interface SavedRecords {
  readonly version: number;
  readonly overrides: string;
  /** Oldest first. */
  readonly audit: readonly string[];
}

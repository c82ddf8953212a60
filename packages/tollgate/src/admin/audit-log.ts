/** The audit log: one line for each change, in the service's log and in the store. */
import type { AdminRecords } from "../counters/counter-admin.ts";
import type { Logger } from "../observe/log.ts";
import { AdminError } from "./admin-error.ts";

/** One change as the audit log shows it. */
export interface AuditEntry {
  /** ISO 8601, UTC. */
  readonly time: string;
  readonly who: string;
  /** `counters.reset`, `counters.grant`, `overrides.set`, `overrides.remove`. */
  readonly what: string;
  readonly target: unknown;
  readonly before: unknown;
  readonly after: unknown;
  readonly reason?: string;
}

export class AuditLog {
  readonly #records: AdminRecords | undefined;
  readonly #log: Logger;
  readonly #now: () => number;

  constructor(records: AdminRecords | undefined, log: Logger, now: () => number = Date.now) {
    this.#records = records;
    this.#log = log;
    this.#now = now;
  }

  /**
   * Writes a change that was made. A store without a place for audit lines leaves them in the service's log alone.
   * @param done the steps that were done, for the error
   * @throws {AdminError} if the store could not keep the line; the service's log has it
   */
  async add(
    { name, reason }: { readonly name: string; readonly reason: string | undefined },
    what: string,
    target: unknown,
    before: unknown,
    after: unknown,
    done: readonly string[],
  ): Promise<void> {
    const entry: AuditEntry = {
      time: new Date(this.#now()).toISOString(),
      who: name,
      what,
      target,
      before,
      after,
      ...(reason !== undefined && { reason }),
    };
    const line = JSON.stringify(entry);
    this.#log.warn(`audit: ${line}`);
    try {
      await this.#records?.addAudit(line);
    } catch (cause) {
      const message = `the store could not keep the audit line, which is in the service's log: ${(cause as Error).message}`;
      throw new AdminError("UNAVAILABLE", message, { done, cause });
    }
  }

  /** The newest changes first. @throws {StoreError} @throws {AdminError} */
  async newest(most: number): Promise<readonly AuditEntry[]> {
    if (this.#records === undefined)
      throw new AdminError(
        "UNSUPPORTED",
        "this store keeps no audit log: it may drop entries at any time. The changes are in the service's log",
      );
    const lines = await this.#records.audit(most);
    return lines.flatMap(parsed);
  }
}

function parsed(line: string): AuditEntry[] {
  try {
    return [JSON.parse(line) as AuditEntry];
  } catch {
    return [];
  }
}

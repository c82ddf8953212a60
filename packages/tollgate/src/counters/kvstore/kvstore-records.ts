/** The records of operators in Redis. The keys have no expiry. */
import { type AdminRecords, MAX_AUDIT_LINES, type VersionedText } from "../counter-admin.ts";
import { StoreError } from "../store.ts";
import type { Control } from "./control.ts";
import type { Reply } from "./resp/reply.ts";

/** The prefix of all keys that are not counters. */
export function recordsPrefix(prefix: string): string {
  return `${prefix}tollgate:`;
}

/**
 * KEYS[1], ARGV: expected version, new text. Returns the new version, or 0 if the version is another one. Versions are
 * milliseconds of the server's clock, or one more than the last: after a loss of all data, no version occurs again.
 */
const REPLACE = `
local version = tonumber(redis.call('HGET', KEYS[1], 'version') or '0')
if version ~= tonumber(ARGV[1]) then return 0 end
local time = redis.call('TIME')
version = math.max(version + 1, time[1] * 1000 + math.floor(time[2] / 1000))
redis.call('HSET', KEYS[1], 'version', string.format('%.0f', version), 'text', ARGV[2])
return version`;

export class KvstoreRecords implements AdminRecords {
  readonly #control: Control;
  readonly #overrides: string;
  readonly #audit: string;

  constructor(control: Control, prefix: string) {
    this.#control = control;
    this.#overrides = `${recordsPrefix(prefix)}overrides`;
    this.#audit = `${recordsPrefix(prefix)}audit`;
  }

  async readOverrides(): Promise<VersionedText> {
    const [reply] = await this.#control.run(
      this.#overrides,
      [["HMGET", this.#overrides, "version", "text"]],
      true,
    );
    const [version, text] = Array.isArray(reply) ? (reply as readonly Reply[]) : [];
    return { version: versionOf(version), text: typeof text === "string" ? text : "" };
  }

  async overridesVersion(): Promise<number> {
    const [reply] = await this.#control.run(this.#overrides, [["HGET", this.#overrides, "version"]], true);
    return versionOf(reply);
  }

  async replaceOverrides(version: number, text: string): Promise<number | undefined> {
    const command = ["EVAL", REPLACE, "1", this.#overrides, String(version), text];
    const [reply] = await this.#control.run(this.#overrides, [command], true);
    if (typeof reply !== "number") throw unexpected();
    return reply === 0 ? undefined : reply;
  }

  async addAudit(line: string): Promise<void> {
    await this.#control.run(this.#audit, [
      ["LPUSH", this.#audit, line],
      ["LTRIM", this.#audit, "0", String(MAX_AUDIT_LINES - 1)],
    ]);
  }

  async audit(most: number): Promise<readonly string[]> {
    const [reply] = await this.#control.run(this.#audit, [["LRANGE", this.#audit, "0", String(most - 1)]]);
    if (!Array.isArray(reply)) throw unexpected();
    return reply.filter((line) => typeof line === "string");
  }
}

function versionOf(reply: Reply | undefined): number {
  if (reply === null) return 0;
  const version = typeof reply === "string" ? Number(reply) : Number.NaN;
  if (!Number.isSafeInteger(version)) throw unexpected();
  return version;
}

function unexpected(): StoreError {
  return new StoreError("STORE_UNAVAILABLE", "the store's records of operators have an unexpected format");
}

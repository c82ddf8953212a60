/** Administration of counters in Redis: single, with sentinels, or a cluster. */
import {
  type AdminRecords,
  AdminStoreError,
  type CounterAdmin,
  type CounterPlace,
  type CounterSearch,
  type FoundCounter,
  type FoundCounters,
  type Grant,
  hasPrefix,
} from "../counter-admin.ts";
import { StoreError } from "../store.ts";
import type { Connection } from "./connection.ts";
import type { Control } from "./control.ts";
import { GRANT } from "./grant-script.ts";
import { KvstoreRecords, recordsPrefix } from "./kvstore-records.ts";
import type { Reply } from "./resp/reply.ts";
import { ErrorReply } from "./resp/reply.ts";

/** Keys that the server examines for one SCAN, and the most SCANs of one call: 100,000 keys. */
const SCAN_COUNT = 1000;
const MOST_SCANS = 100;

/** Seconds that a key outlives its state, as for decisions at most. */
const GRANT_JITTER = 300;

export class KvstoreAdmin implements CounterAdmin {
  readonly records: AdminRecords;
  readonly #control: Control;
  readonly #recordsPrefix: string;
  readonly #now: () => number;

  /**
   * @param prefix `CACHE_KEY_PREFIX`
   * @param now microseconds since the epoch for scripts; 0 for the server's clock
   */
  constructor(control: Control, prefix: string, now: () => number = () => 0) {
    this.#now = now;
    this.#control = control;
    this.#recordsPrefix = recordsPrefix(prefix);
    this.records = new KvstoreRecords(control, prefix);
  }

  /** The keys of a list share a slot, so one DEL drops all of them. */
  async reset(places: readonly CounterPlace[]): Promise<void> {
    if (places.length === 0) return;
    const keys = places.map(({ stem, algorithm, windowStart }) =>
      algorithm.perWindow ? `${stem}${windowStart}` : stem,
    );
    await this.#control.run(keys[0]!, [["DEL", ...keys]]);
  }

  /** The script is sent with its text: an operator rarely grants, and a server may have lost it. */
  async grant({ limit: { stem, limit, burst, windowSize }, hits }: Grant): Promise<void> {
    const args = [this.#now(), GRANT_JITTER, limit, burst, windowSize, hits].map(String);
    const [reply] = await this.#control.run(stem, [["EVAL", GRANT, "1", stem, ...args]]);
    if (reply !== 1) throw new StoreError("STORE_UNAVAILABLE", "the value of the key is not a token bucket");
  }

  async search({ prefix, from, most }: CounterSearch): Promise<FoundCounters> {
    const servers = this.#control.servers();
    const found = new Map<string, number | undefined>();
    let [server, cursor] = placeOf(from, servers.length);
    for (let scans = 0; server < servers.length; ) {
      if (found.size >= most || scans >= MOST_SCANS)
        return { counters: listOf(found), next: `${server}.${cursor}` };
      await this.#control.with(servers[server]!, async (connection) => {
        do {
          cursor = await this.#scan(connection, prefix, cursor, found);
          scans += 1;
        } while (cursor !== "0" && found.size < most && scans < MOST_SCANS);
      });
      if (cursor === "0") server += 1;
    }
    return { counters: listOf(found), next: undefined };
  }

  async close(): Promise<void> {
    this.#control.close();
  }

  /** One step of a scan. @returns the next cursor */
  async #scan(
    connection: Connection,
    prefix: string,
    cursor: string,
    found: Map<string, number | undefined>,
  ): Promise<string> {
    const [reply] = await connection.commands([
      ["SCAN", cursor, "MATCH", `*${globText(prefix)}*`, "COUNT", String(SCAN_COUNT)],
    ]);
    const [next, listed] = Array.isArray(reply) ? (reply as readonly Reply[]) : [];
    if (typeof next !== "string" || !Array.isArray(listed))
      throw new Error(`unexpected reply to SCAN${reply instanceof ErrorReply ? `: ${reply.message}` : ""}`);
    const keys = listed.filter(
      (key): key is string =>
        typeof key === "string" && hasPrefix(key, prefix) && !key.startsWith(this.#recordsPrefix),
    );
    if (keys.length === 0) return next;
    const values = await connection.commands(keys.map((key) => ["GET", key]));
    for (const [index, key] of keys.entries()) {
      const value = values[index];
      const level =
        typeof value === "string" ? Number(/^-?\d{1,20}/.exec(value)?.[0] ?? Number.NaN) : Number.NaN;
      // The key may have expired meanwhile.
      if (value !== null) found.set(key, Number.isNaN(level) ? undefined : level);
    }
    return next;
  }
}

function listOf(found: ReadonlyMap<string, number | undefined>): FoundCounter[] {
  return Array.from(found, ([key, level]) => ({ key, level }));
}

/** A literal text in a glob pattern. */
function globText(text: string): string {
  return text.replace(/[\\*?[\]^]/g, "\\$&");
}

function placeOf(from: string, servers: number): [server: number, cursor: string] {
  if (from === "") return [0, "0"];
  const [, server, cursor] = /^(\d{1,4})\.(\d{1,20})$/.exec(from) ?? [];
  if (server === undefined || Number(server) >= servers)
    throw new AdminStoreError("BAD_CURSOR", "must be the `next` of an earlier answer");
  return [Number(server), cursor!];
}

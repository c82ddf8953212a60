/** The operations of an operator on overrides, independent of HTTP. */
import type { AdjustmentRecord, OverrideRecord } from "../overrides/record.ts";
import type { Adjustments } from "./adjustments.ts";
import { AdminError, invalid } from "./admin-error.ts";
import type { AuditLog } from "./audit-log.ts";
import { type Author, limitOf } from "./operations.ts";
import { describe, type Target, type Targets } from "./targets.ts";
import type { DescriptorView } from "./views.ts";

export interface OverrideOperationsOptions {
  readonly targets: Targets;
  readonly adjustments: Adjustments;
  /** Drops the over-limit entries of these stems in all threads. Resolves when the other replicas were told. */
  readonly invalidate: (stems: readonly string[]) => Promise<void>;
  readonly audit: AuditLog;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** An operator's request to set an override. */
export interface OverrideRequest {
  readonly target: Target;
  readonly limit: string | undefined;
  readonly requestsPerUnit: number | undefined;
  readonly burst: number | undefined;
  readonly unlimited: boolean;
  /** Milliseconds since the epoch. */
  readonly expires: number | undefined;
}

export interface OverrideView extends DescriptorView {
  readonly id: string;
  readonly kind: "override" | "grant";
  readonly limit?: string;
  readonly requestsPerUnit?: number;
  readonly burst?: number;
  readonly unlimited?: true;
  /** The hits of a grant. */
  readonly hits?: number;
  /** ISO 8601, UTC. */
  readonly expires?: string;
  readonly by: string;
  readonly at: string;
  readonly reason?: string;
  /** The effect in words; absent if no rule limits the descriptor now. */
  readonly effect?: readonly string[];
}

export class OverrideOperations {
  readonly #options: OverrideOperationsOptions;

  constructor(options: OverrideOperationsOptions) {
    this.#options = options;
  }

  /** @throws {AdminError} */
  async list(): Promise<{ readonly overrides: readonly OverrideView[] }> {
    const records = await this.#options.adjustments.all();
    return { overrides: records.map((record) => this.#view(record)) };
  }

  /** @throws {AdminError} */
  async get(id: string): Promise<OverrideView> {
    return this.#view(found(await this.#options.adjustments.all(), id));
  }

  /** Creates or replaces an override. @throws {AdminError} */
  async set(id: string, request: OverrideRequest, author: Author): Promise<OverrideView> {
    const { adjustments, audit, invalidate, now } = this.#options;
    const { target, limit, requestsPerUnit, burst, unlimited, expires } = request;
    const stem = this.#check(request);
    const record: OverrideRecord = {
      kind: "override",
      id,
      ...target,
      ...(limit !== undefined && { limit }),
      ...(requestsPerUnit !== undefined && { requestsPerUnit }),
      ...(burst !== undefined && { burst }),
      ...(unlimited && { unlimited: true as const }),
      ...(expires !== undefined && { expires }),
      by: author.name,
      at: now(),
      ...(author.reason !== undefined && { reason: author.reason }),
    };
    let before: OverrideView | undefined;
    let replaced: AdjustmentRecord | undefined;
    await adjustments.change((records) => {
      const other = records.find(
        (one) => one.id !== id && one.kind === "override" && isSamePlace(one, record),
      );
      if (other !== undefined)
        throw new AdminError(
          "CONFLICT",
          `override ${other.id} already changes this limit: change or remove it`,
        );
      replaced = records.find((one) => one.id === id);
      before = replaced && this.#view(replaced);
      return [...records.filter((one) => one.id !== id), record];
    });
    await invalidate([stem, ...this.#stemsOf(replaced)]);
    const view = this.#view(record);
    const done = [`override ${id} was set`];
    await audit.add(author, "overrides.set", { id, ...describe(target) }, before ?? null, view, done);
    return view;
  }

  /** Removes an override or a grant. @throws {AdminError} */
  async remove(id: string, author: Author): Promise<OverrideView> {
    const { adjustments, audit, invalidate } = this.#options;
    let removed: AdjustmentRecord | undefined;
    await adjustments.change((records) => {
      removed = found(records, id);
      return records.filter((record) => record !== removed);
    });
    await invalidate(this.#stemsOf(removed));
    const view = this.#view(removed!);
    const done = [`${removed!.kind} ${id} was removed`];
    await audit.add(author, "overrides.remove", { id, ...describe(removed!) }, view, null, done);
    return view;
  }

  /** @returns the stem of the limit's counter @throws {AdminError} if the rule does not allow the override */
  #check({ target, limit, requestsPerUnit, burst, unlimited }: OverrideRequest): string {
    const { targets } = this.#options;
    if (targets.match(target).sharedValues !== undefined)
      throw new AdminError(
        "UNSUPPORTED",
        "values of this rule share a counter (share_threshold): change the rule instead",
      );
    const { resolved, state } = limitOf(targets.ownCounters(target), limit);
    const isBucket = resolved.limit.algorithm === "token_bucket";
    if (unlimited === (requestsPerUnit !== undefined))
      throw invalid("requestsPerUnit", "or unlimited must be given, and not both");
    if (burst !== undefined && (!isBucket || unlimited))
      throw invalid("burst", "needs a token bucket with requestsPerUnit");
    const most = 1_000_000_000;
    if (isBucket && (requestsPerUnit ?? 0) > most)
      throw invalid("requestsPerUnit", `must be at most ${most} for a token bucket`);
    return state.stem;
  }

  #stemsOf(record: AdjustmentRecord | undefined): readonly string[] {
    if (record === undefined) return [];
    const counters = this.#options.targets.known(record) ?? [];
    return counters.map(({ state }) => state.stem);
  }

  #view(record: AdjustmentRecord): OverrideView {
    const { kind, id, limit, expires, by, at, reason } = record;
    return {
      id,
      kind,
      ...describe(record),
      ...(limit !== undefined && { limit }),
      ...(record.kind === "grant" ? { hits: record.hits } : limitView(record)),
      ...(expires !== undefined && { expires: new Date(expires).toISOString() }),
      by,
      at: new Date(at).toISOString(),
      ...(reason !== undefined && { reason }),
      ...this.#effect(record),
    };
  }

  #effect(record: AdjustmentRecord): { readonly effect?: readonly string[] } {
    try {
      return { effect: this.#options.targets.notes(record, [record]) };
    } catch (error) {
      if (error instanceof AdminError) return {};
      throw error;
    }
  }
}

function limitView({ requestsPerUnit, burst, unlimited }: OverrideRecord) {
  return {
    ...(requestsPerUnit !== undefined && { requestsPerUnit }),
    ...(burst !== undefined && { burst }),
    ...(unlimited && { unlimited }),
  };
}

function found(records: readonly AdjustmentRecord[], id: string): AdjustmentRecord {
  const record = records.find((one) => one.id === id);
  if (record === undefined) throw new AdminError("NOT_FOUND", `there is no override or grant ${id}`);
  return record;
}

function isSamePlace(one: AdjustmentRecord, other: AdjustmentRecord): boolean {
  return (
    one.domain === other.domain &&
    one.limit === other.limit &&
    JSON.stringify(one.entries) === JSON.stringify(other.entries)
  );
}

/** A replica with two threads, each with an over-limit cache of its own. */
import assert from "node:assert/strict";
import { adminEnv } from "./admin-support.ts";
import { until } from "./counters/kvstore-support.ts";
import { descriptor, GrpcCaller, request } from "./grpc-caller.ts";
import { type RunningTollgate, startTollgate } from "./tollgate.ts";

const LIMIT = 8;
export const CALLERS = 8;
const rules = `domain: d\ndescriptors: [{ key: day, rate_limit: { unit: day, requests_per_unit: ${LIMIT} } }]\n`;

export class Replica {
  readonly tollgate: RunningTollgate;
  readonly #callers: readonly GrpcCaller[];

  private constructor(tollgate: RunningTollgate) {
    this.tollgate = tollgate;
    // Each has its own connection, so that the kernel distributes them over the threads.
    this.#callers = Array.from(
      { length: CALLERS },
      () => new GrpcCaller(tollgate.grpc, undefined, { "grpc.use_local_subchannel_pool": 1 }),
    );
  }

  static async start(env: Readonly<Record<string, string>>): Promise<Replica> {
    return new Replica(
      await startTollgate({
        config: { "d.yaml": rules },
        env: { ...adminEnv, WORKERS: "2", LOCAL_CACHE_SIZE_IN_BYTES: "1000000", LOG_LEVEL: "info", ...env },
      }),
    );
  }

  /** One call through each connection. @returns the number of OK answers */
  async all(hitsAddend: number, text = "day=a"): Promise<number> {
    const asked = request("d", descriptor(text, { hitsAddend }));
    const answers = await Promise.all(this.#callers.map((caller) => caller.ask(asked)));
    return answers.filter(({ overallCode }) => overallCode === 1).length;
  }

  /** One call. */
  async hit(hitsAddend: number): Promise<void> {
    await this.#callers[0]!.ask(request("d", descriptor("day=a", { hitsAddend })));
  }

  async refund(hitsAddend: number): Promise<void> {
    await this.#callers[0]!.ask(request("d", descriptor("day=a", { hitsAddend, isNegativeHits: true })));
  }

  async #known(): Promise<number> {
    const stats = await fetch(`http://${this.tollgate.debug}/stats?filter=over_limit_with_local_cache`);
    return Number(/: (\d+)/.exec(await stats.text())?.[1] ?? 0);
  }

  /**
   * Counts until every thread refuses from its cache. The message about an earlier reset may still arrive at a thread
   * and drop its entry; the next call then reads the store and makes the entry again.
   */
  async exhaust(): Promise<void> {
    await this.all(1);
    await until("every thread refuses from its cache", async () => {
      const before = await this.#known();
      const passed = await this.all(1);
      return passed === 0 && (await this.#known()) - before === CALLERS;
    });
  }

  async stop(): Promise<void> {
    for (const caller of this.#callers) caller.close();
    assert.equal((await this.tollgate.stop()).code, 0, this.tollgate.log.join("\n"));
  }
}

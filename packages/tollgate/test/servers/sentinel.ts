import { setTimeout as sleep } from "node:timers/promises";
import { isTimeUp, scaled } from "../../../../tools/time-scale.ts";
import { RedisServer, type RedisSettings } from "./redis.ts";

export interface SentinelSettings {
  /** The settings of master and replicas. */
  readonly redis?: RedisSettings;
  /** The settings of the sentinels. */
  readonly sentinel?: RedisSettings;
  readonly sentinels?: number;
  readonly replicas?: number;
}

const MASTER_NAME = "counters";

/** A master with replicas and sentinels. The sentinels have discovered each other and the replicas. */
export class SentinelGroup {
  readonly servers: readonly RedisServer[];
  readonly sentinels: readonly RedisServer[];

  private constructor(servers: readonly RedisServer[], sentinels: readonly RedisServer[]) {
    this.servers = servers;
    this.sentinels = sentinels;
  }

  static async start(settings: SentinelSettings = {}): Promise<SentinelGroup> {
    const { redis = {}, sentinel = {}, sentinels: howMany = 3, replicas = 1 } = settings;
    const common = [...(redis.config ?? []), "repl-diskless-sync-delay 0"];
    const servers = [await RedisServer.start({ ...redis, config: common })];
    const master = servers[0]!;
    for (let i = 0; i < replicas; i++)
      servers.push(
        await RedisServer.start({ ...redis, config: [...common, `replicaof 127.0.0.1 ${master.port}`] }),
      );
    const password = redis.auth?.at(-1);
    const sentinels: RedisServer[] = [];
    for (let i = 0; i < howMany; i++)
      sentinels.push(
        await RedisServer.start({
          ...sentinel,
          sentinel: true,
          config: [
            `sentinel monitor ${MASTER_NAME} 127.0.0.1 ${master.port} ${Math.floor(howMany / 2) + 1}`,
            `sentinel down-after-milliseconds ${MASTER_NAME} ${scaled(500)}`,
            `sentinel failover-timeout ${MASTER_NAME} ${scaled(3000)}`,
            ...(password === undefined ? [] : [`sentinel auth-pass ${MASTER_NAME} ${password}`]),
            ...(sentinel.config ?? []),
          ],
        }),
      );
    const group = new SentinelGroup(servers, sentinels);
    try {
      await group.#ready();
    } catch (error) {
      await group.stop();
      throw error;
    }
    return group;
  }

  get url(): string {
    return [MASTER_NAME, ...this.sentinels.map((sentinel) => sentinel.url)].join(",");
  }

  /** The master according to the first running sentinel. */
  async master(): Promise<RedisServer> {
    const running = this.sentinels.find((sentinel) => sentinel.running)!;
    const reply = await running.command("SENTINEL", "get-master-addr-by-name", MASTER_NAME);
    const port = Number((reply as string[])[1]);
    return this.servers.find((server) => server.port === port)!;
  }

  /** Triggers a failover and waits for its end. */
  async failover(): Promise<void> {
    const before = await this.master();
    await this.sentinels[0]!.command("SENTINEL", "FAILOVER", MASTER_NAME);
    await this.until(async () => (await this.master()) !== before);
  }

  async until(done: () => Promise<boolean>): Promise<void> {
    const begun = performance.now();
    while (!(await done())) {
      if (isTimeUp(begun, 20_000)) throw new Error("the sentinels did not agree in time");
      await sleep(20);
    }
  }

  async #ready(): Promise<void> {
    for (const sentinel of this.sentinels)
      await this.until(async () => {
        const reply = (await sentinel.command("SENTINEL", "MASTER", MASTER_NAME)) as string[];
        const field = (of: string) => Number(reply[reply.indexOf(of) + 1]);
        return (
          field("num-slaves") === this.servers.length - 1 &&
          field("num-other-sentinels") === this.sentinels.length - 1
        );
      });
    for (const replica of this.servers.slice(1))
      await this.until(async () =>
        String(await replica.command("INFO", "replication")).includes("master_link_status:up"),
      );
  }

  async stop(): Promise<void> {
    await Promise.all([...this.servers, ...this.sentinels].map((server) => server.stop()));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }
}

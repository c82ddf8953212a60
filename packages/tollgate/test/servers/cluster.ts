import { setTimeout as sleep } from "node:timers/promises";
import { scaled } from "../../../../tools/time-scale.ts";
import { RedisServer, type RedisSettings } from "./redis.ts";

const SLOT_COUNT = 16384;

/** A ready cluster of masters with replicas. */
export class RedisCluster {
  /** Masters first, in the order of their slots; then replicas. */
  readonly nodes: readonly RedisServer[];
  readonly masters: number;

  private constructor(nodes: readonly RedisServer[], masters: number) {
    this.nodes = nodes;
    this.masters = masters;
  }

  static async start(masters: number, replicas = 0, settings: RedisSettings = {}): Promise<RedisCluster> {
    const config = [
      `cluster-node-timeout ${scaled(1000)}`,
      "repl-diskless-sync-delay 0",
      ...(settings.config ?? []),
    ];
    const nodes: RedisServer[] = [];
    for (let i = 0; i < masters * (1 + replicas); i++)
      nodes.push(await RedisServer.start({ ...settings, cluster: true, config }));
    const cluster = new RedisCluster(nodes, masters);
    try {
      await cluster.#form();
    } catch (error) {
      await cluster.stop();
      throw error;
    }
    return cluster;
  }

  get url(): string {
    return this.nodes.map((node) => node.url).join(",");
  }

  async #form(): Promise<void> {
    const { nodes, masters } = this;
    for (const [i, node] of nodes.entries()) {
      await node.command("CLUSTER", "SET-CONFIG-EPOCH", i + 1);
      if (i >= masters) continue;
      const from = Math.floor((SLOT_COUNT * i) / masters);
      await node.command("CLUSTER", "ADDSLOTSRANGE", from, Math.floor((SLOT_COUNT * (i + 1)) / masters) - 1);
    }
    for (const node of nodes.slice(1))
      await node.command("CLUSTER", "MEET", "127.0.0.1", nodes[0]!.port, nodes[0]!.busPort);
    await this.until(async (node) => (await known(node)) === nodes.length);
    for (const [i, node] of nodes.slice(masters).entries()) {
      const master = await nodes[i % masters]!.command("CLUSTER", "MYID");
      await node.command("CLUSTER", "REPLICATE", String(master));
    }
    await this.until(async (node) =>
      String(await node.command("CLUSTER", "INFO")).includes("cluster_state:ok"),
    );
    for (const node of nodes.slice(masters))
      while (!String(await node.command("INFO", "replication")).includes("master_link_status:up"))
        await sleep(20);
  }

  /**
   * Moves a slot with its keys from one master to another, as redis-cli does.
   * @param halfWay called when half of the keys have moved; `migrate` returns its result
   */
  async migrate<T>(slot: number, from: RedisServer, to: RedisServer, halfWay: () => Promise<T>): Promise<T> {
    const [fromId, toId] = [await from.command("CLUSTER", "MYID"), await to.command("CLUSTER", "MYID")];
    await to.command("CLUSTER", "SETSLOT", slot, "IMPORTING", String(fromId));
    await from.command("CLUSTER", "SETSLOT", slot, "MIGRATING", String(toId));
    const move = async (most: number) => {
      const keys = (await from.command("CLUSTER", "GETKEYSINSLOT", slot, most)) as string[];
      if (keys.length > 0) await from.command("MIGRATE", "127.0.0.1", to.port, "", 0, 5000, "KEYS", ...keys);
      return keys.length;
    };
    await move(Math.ceil(Number(await from.command("CLUSTER", "COUNTKEYSINSLOT", slot)) / 2));
    const result = await halfWay();
    while ((await move(1000)) > 0);
    for (const node of [to, from]) await node.command("CLUSTER", "SETSLOT", slot, "NODE", String(toId));
    return result;
  }

  /** Waits until every running node agrees. */
  async until(agrees: (node: RedisServer) => Promise<boolean>): Promise<void> {
    const latest = Date.now() + scaled(20_000);
    for (const node of this.nodes) {
      while (node.running && !(await agrees(node))) {
        if (Date.now() > latest) throw new Error("the cluster did not agree in time");
        await sleep(20);
      }
    }
  }

  async stop(): Promise<void> {
    await Promise.all(this.nodes.map((node) => node.stop()));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }
}

async function known(node: RedisServer): Promise<number> {
  const lines = String(await node.command("CLUSTER", "NODES"))
    .trim()
    .split("\n");
  return lines.filter((line) => !line.includes("handshake")).length;
}

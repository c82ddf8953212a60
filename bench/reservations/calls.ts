/** CPU of the service for each call of a gateway, with an independent client of 100 calls at a time. */

import { fromBinary } from "@bufbuild/protobuf";
import { Client, credentials } from "@grpc/grpc-js";
import { ReserveResponseSchema } from "../../packages/tollgate/src/protocol/gen/kuadrant/service/ratelimit/v1/ratelimit_pb.ts";
import { COMMIT, RESERVE, SHOULD_RATE_LIMIT } from "../../packages/tollgate/src/protocol/method.ts";
import { RedisServer } from "../../packages/tollgate/test/servers/redis.ts";
import { median, table } from "../support/figures.ts";
import { cpuMicroseconds } from "../support/process.ts";
import { startTollgate } from "../support/tollgate.ts";
import { commitMessage, decisionMessage, reserveMessage, withId } from "./messages.ts";

const ROUNDS = 5;
const CALLS = 8000;
const IN_FLIGHT = 100;
/** Tenants, each with some open reservations. */
const TENANTS = 200;

/** @param kinds name and YAML of each limit */
export async function calls(kinds: readonly (readonly [name: string, limits: string])[]): Promise<void> {
  for (const [name, limits] of kinds) {
    await measure(`embedded, ${name}`, limits, {});
    await using redis = await RedisServer.start();
    await measure(`Redis, ${name}`, limits, { BACKEND_TYPE: "kvstore", KVSTORE_URL: redis.url });
  }
}

async function measure(title: string, limits: string, env: Record<string, string>): Promise<void> {
  const rules = `{ domain: bench, descriptors: [{ key: user, ${limits} }] }`;
  const server = await startTollgate({ ...env, RESERVATION_MAX_FRACTION: "1" }, undefined, rules);
  const client = new Client(new URL(server.url).host, credentials.createInsecure());
  const users = Array.from({ length: TENANTS }, (_, index) => `user-${index}`);
  const decisions = users.map((user) => decisionMessage(user));
  const reserves = users.map((user) => reserveMessage(user, 20));
  const ids: string[] = [];
  const call = (path: string, message: Buffer) =>
    new Promise<Buffer>((resolve, reject) => {
      const same = (bytes: Buffer) => bytes;
      client.makeUnaryRequest(path, same, same, message, (error, answer) =>
        error === null ? resolve(answer!) : reject(error),
      );
    });
  const all = async (one: (index: number) => Promise<unknown>) => {
    const begun = cpuMicroseconds(server.pid);
    for (let done = 0; done < CALLS; done += IN_FLIGHT)
      await Promise.all(Array.from({ length: IN_FLIGHT }, (_, index) => one(done + index)));
    return (cpuMicroseconds(server.pid) - begun) / CALLS;
  };
  const phases: Readonly<Record<string, () => Promise<number>>> = {
    decision: () => all((index) => call(SHOULD_RATE_LIMIT, decisions[index % TENANTS]!)),
    Reserve: () =>
      all(async (index) => {
        const answer = await call(RESERVE, reserves[index % TENANTS]!);
        ids[index] = fromBinary(ReserveResponseSchema, answer).reservationId;
      }),
    Commit: () => {
      const commits = ids.map((id, index) => {
        const message = commitMessage(users[index % TENANTS]!, 15);
        withId(message, id);
        return message;
      });
      return all((index) => call(COMMIT, commits[index]!));
    },
  };
  try {
    await new Promise<void>((resolve, reject) =>
      client.waitForReady(Date.now() + 30_000, (error) => (error === undefined ? resolve() : reject(error))),
    );
    const figures = new Map(Object.keys(phases).map((name) => [name, [] as number[]]));
    for (let round = -1; round < ROUNDS; round++)
      for (const [name, run] of Object.entries(phases)) {
        const used = await run();
        if (round >= 0) figures.get(name)!.push(used);
      }
    const baseline = median(figures.get("decision")!);
    console.log(`\nCPU of the service for a call: ${title}\n`);
    console.log(
      table(
        ["call", "CPU", "against a decision"],
        Array.from(figures, ([name, all]) => [
          name,
          `${median(all).toFixed(1)} µs`,
          (median(all) / baseline).toFixed(2),
        ]),
      ),
    );
  } finally {
    client.close();
    await server.stop();
  }
}

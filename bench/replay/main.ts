/**
 * `npm run bench -- replay`: the decisions that `tollgate replay` compares in a second, on one core. The baseline is the
 * JSON parser of Node on the same lines: no program that reads the log can be faster.
 */

import { LineSplitter } from "../../packages/tollgate/src/replay/line-splitter.ts";
import { Replay } from "../../packages/tollgate/src/replay/replay.ts";
import { loadRules } from "../../packages/tollgate/src/rules/load-rules.ts";
import { machine, median, table } from "../support/figures.ts";

const LINES = 200_000;
const KEYS = 20_000;
const CHUNK = 64 * 1024;

const rules = `domain: shop
descriptors:
  - key: remote_address
    rate_limit: { unit: minute, requests_per_unit: 100 }
  - key: path
    value: /api/*
    descriptors:
      - key: account
        rate_limit: { unit: hour, requests_per_unit: 500, algorithm: sliding_window }
`;

/** A log with one or two descriptors for each request. */
function makeLog(): Buffer {
  const lines: string[] = [];
  const start = Date.parse("2026-11-22T13:00:00Z");
  let random = 1;
  for (let line = 0; line < LINES; line++) {
    random = (Math.imul(random, 1_103_515_245) + 12_345) >>> 0;
    const key = Math.floor((random / 2 ** 32) ** 3 * KEYS);
    const address = {
      entries: [["remote_address", `192.0.${key >> 8}.${key & 255}`]],
      hits: 1,
      sampled: true,
      rule: "shop.remote_address",
      file: "shop.yaml:3",
      code: key < 20 ? "OVER_LIMIT" : "OK",
      limit: { requests_per_unit: 100, unit: "minute" },
      count: 11,
      remaining: 89,
      reset: 42,
    };
    const account = {
      ...address,
      entries: [
        ["path", `/api/${key % 50}`],
        ["account", String(key)],
      ],
      rule: "shop.path_/api/*.account",
      code: "OK",
    };
    lines.push(
      JSON.stringify({
        time: new Date(start + line * 5).toISOString(),
        rate: 0.01,
        reason: "sample",
        domain: "shop",
        code: address.code,
        duration_us: 12,
        descriptors: line % 4 === 0 ? [address, account] : [address],
      }),
    );
  }
  return Buffer.from(`${lines.join("\n")}\n`);
}

/** Passes a log to a reader in pieces, as a file comes. Returns seconds of CPU time. */
async function timed(log: Buffer, onLine: (text: string, bytes: number) => void): Promise<number> {
  const splitter = new LineSplitter(1024 ** 2, onLine, () => undefined);
  const begin = process.cpuUsage();
  for (let at = 0; at < log.length; at += CHUNK) {
    splitter.push(log.subarray(at, at + CHUNK));
    await new Promise((resolve) => setImmediate(resolve));
  }
  return secondsSince(begin);
}

/** CPU time of all threads of this process, the garbage collector's included. */
function secondsSince(begin: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(begin);
  return (user + system) / 1e6;
}

export async function main(): Promise<void> {
  const log = makeLog();
  const { ruleSet } = loadRules([{ name: "shop.yaml", text: rules }], { mergeDomains: false });
  let decisions = 0;
  const seconds: Record<string, number[]> = { parse: [], replay: [] };
  for (let round = 0; round < 5; round++) {
    seconds.parse!.push(await timed(log, (text) => JSON.parse(text)));
    const replay = new Replay(ruleSet!, { storeBytes: 64 * 1024 ** 2 });
    const own = await timed(log, (text, bytes) => replay.line(text, bytes));
    const begin = process.cpuUsage();
    replay.end();
    seconds.replay!.push(own + secondsSince(begin));
    decisions = replay.decisions;
  }
  const rate = (values: readonly number[], count: number) =>
    Math.round(count / median(values)).toLocaleString("en");
  console.log(
    `${machine()}\n${LINES.toLocaleString("en")} lines, ${decisions.toLocaleString("en")} decisions\n`,
  );
  console.log(
    table(
      ["", "lines a second of CPU time", "decisions a second of CPU time"],
      [
        ["JSON.parse alone", rate(seconds.parse!, LINES), rate(seconds.parse!, decisions)],
        ["tollgate replay", rate(seconds.replay!, LINES), rate(seconds.replay!, decisions)],
      ],
    ),
  );
}

/** The chapter of the algorithms of limits. */
import { accuracyTable } from "../limits/accuracy.ts";
import { callsTable } from "../limits/calls.ts";
import { embeddedTable } from "../limits/embedded.ts";
import { overRedis } from "../limits/over-redis.ts";
import { LIMIT, SECONDS } from "../limits/traffic.ts";

export async function limitsChapter(rounds: number): Promise<string> {
  const calls = await callsTable(rounds);
  const remote = await overRedis(rounds);
  return `### Accuracy

Hits that pass of those asked, and the most within any ${SECONDS} seconds. The limit is ${LIMIT} in ${SECONDS} seconds. The plots show other
traffic: 20 hits a second for 25 seconds, a pause, and 200 hits around the edge of a window at 50 seconds.

${accuracyTable()}

![Hits that pass a fixed window](limits/fixed-window.svg)
![Hits that pass a sliding window](limits/sliding-window.svg)
![Hits that pass a token bucket](limits/token-bucket.svg)

### CPU of a call

All threads of the service, with 8 connections of 50 streams, 1,000 keys in turn. In parentheses against a fixed window. The goal
for one limit is at most 1.2 times with the embedded store, and at most 1.5 times over Redis.

${calls}

### CPU of a decision alone, embedded

One decision from the bytes of its message, 1,000 keys in turn, in one process.

${embeddedTable(rounds)}

### CPU of a decision alone, over Redis

400 decisions at a time, one connection. In parentheses against a fixed window. Fixed windows that count all hits are INCRBY, the
others are a script.
${remote.map(([title, figures]) => `\n${title[0]!.toUpperCase()}${title.slice(1)}:\n\n${figures}`).join("\n")}
`;
}

import { hash } from "node:crypto";
import { WireWriter } from "../protocol/wire.fixture.ts";

/** The most expensive requests at the default limits: 256 KB, 100 descriptors, 32 entries each. */

const BYTES = 256 * 1024;
const DESCRIPTORS = 100;
const ENTRIES = 32;

export const worstRules = `
domain: d
descriptors:
  - key: plain
    rate_limit: { unit: hour, requests_per_unit: 1000 }
  - key: detailed
    detailed_metric: true
    rate_limit: { unit: hour, requests_per_unit: 1000 }
  - key: wild
    value: "*a*0*b"
    rate_limit: { unit: hour, requests_per_unit: 1000 }
  - key: wild
    value: "*"
    value_to_metric: true
    rate_limit: { unit: hour, requests_per_unit: 1000 }
${nested(ENTRIES)}`;

/** A chain of `depth` wildcards with `detailed_metric`: each level matches and is a part of the statistic's name. */
function nested(depth: number): string {
  let text = "";
  for (let level = 0; level < depth; level++) {
    const indent = "    ".repeat(level);
    text += `${indent}  - key: n\n${indent}    value: "*"\n${indent}    detailed_metric: true\n`;
    text +=
      level === depth - 1
        ? `${indent}    rate_limit: { unit: hour, requests_per_unit: 1000 }\n`
        : `${indent}    descriptors:\n`;
  }
  return text;
}

type Pair = readonly [key: string, value: string | Uint8Array];

const override = new WireWriter().number(1, 1000).number(2, 3).finish();

function descriptor(pairs: readonly Pair[], own: boolean): Buffer {
  const writer = new WireWriter();
  for (const [key, value] of pairs)
    writer.bytes(1, new WireWriter().bytes(1, Buffer.from(key)).bytes(2, Buffer.from(value)).finish());
  if (own) writer.bytes(2, override);
  return writer.finish();
}

function message(descriptors: readonly Buffer[]): Buffer {
  const writer = new WireWriter().bytes(1, Buffer.from("d"));
  for (const one of descriptors) writer.bytes(2, one);
  return writer.finish();
}

/** `count` descriptors of `entries` entries that fill a message; each value begins with a different number. */
function grid(
  key: string,
  unit: string | Uint8Array,
  seed: number,
  own = false,
  count = DESCRIPTORS,
  entries = 1,
): Buffer {
  const bytes = Math.floor((BYTES - 100) / (count * entries)) - key.length - (own ? 32 : 24);
  const filler = Buffer.alloc(Math.max(bytes, 1), unit);
  const descriptors = Array.from({ length: count }, (_, at) =>
    descriptor(
      Array.from({ length: entries }, (_, place) => {
        const value = Buffer.from(filler);
        value.write(`${seed}/${at}/${place}/`.slice(0, value.length), 0, "latin1");
        return [key, value] as const;
      }),
      own,
    ),
  );
  return message(descriptors);
}

const invalid = Buffer.of(0xff);
const json = (text: string) => Buffer.from(text.slice(0, BYTES));

/** The message of one call, by name. `seed` makes each message different, so that no cache has it. */
export const worstMessages: Readonly<Record<string, (seed: number) => Buffer>> = {
  "distinct descriptors": (seed) => grid("plain", "v", seed),
  "values of = that are escaped": (seed) => grid("plain", "=", seed),
  "values of % with their own limits": (seed) => grid("k", "%", seed, true),
  "values that are not UTF-8": (seed) => grid("plain", invalid, seed),
  "values that are not UTF-8, under wildcards": (seed) => grid("wild", invalid, seed),
  "one long value": (seed) => grid("plain", "=", seed, false, 1),
  "one long value with its own limit": (seed) => grid("k", "=", seed, true, 1),
  "one long value of white space beyond ASCII": (seed) => grid("detailed", "\u2028", seed, false, 1),
  "one long value that is not UTF-8": (seed) => grid("detailed", invalid, seed, false, 1),
  "one long value under wildcards": (seed) => grid("wild", "a", seed, false, 1),
  detailed_metric: (seed) => grid("detailed", "1.1.1.1:", seed),
  "32 entries each": (seed) => grid("plain", "=", seed, false, DESCRIPTORS, ENTRIES),
  "32 entries each, with their own limits": (seed) => grid("k", "=", seed, true, DESCRIPTORS, ENTRIES),
  "32 entries each, that are not UTF-8, with their own limits": (seed) =>
    grid("k", invalid, seed, true, DESCRIPTORS, ENTRIES),
  "32 levels of wildcards": (seed) => grid("n", "=", seed, false, DESCRIPTORS, ENTRIES),
  "32 levels of wildcards, values that are not UTF-8": (seed) =>
    grid("n", invalid, seed, false, DESCRIPTORS, ENTRIES),
  "long keys": (seed) =>
    message(
      Array.from({ length: DESCRIPTORS }, (_, at) =>
        descriptor([[`${seed}/${at}/`.padEnd(2550, "="), "v"]], true),
      ),
    ),
  "a key that is repeated": (seed) => {
    const entry = Buffer.alloc(BYTES - 100, Buffer.from("0a01ff", "hex"));
    const whole = entry.subarray(0, Math.floor(entry.length / 3) * 3);
    return message([new WireWriter().bytes(1, whole).finish(), descriptor([["plain", String(seed)]], false)]);
  },
  "a limit that is repeated": (seed) => {
    const limits = Buffer.alloc(Math.floor((BYTES - 100) / 2) * 2, Buffer.from("1200", "hex"));
    return message([
      Buffer.concat([descriptor([["plain", String(seed)]], false), limits, Buffer.from("12021003", "hex")]),
    ]);
  },
  "unknown fields": (seed) => {
    const unknown = Buffer.alloc(Math.floor((BYTES - 100) / 2) * 2, Buffer.from("2a00", "hex"));
    return Buffer.concat([message([descriptor([["plain", String(seed)]], false)]), unknown]);
  },
};

/** The body of one call of `/json`, by name. */
export const worstBodies: Readonly<Record<string, (seed: number) => Buffer>> = {
  "32 entries each": (seed) => {
    const entries = (at: number) =>
      Array.from({ length: ENTRIES }, (_, place) => ({
        key: "n",
        value: `${seed}/${at}/${place}/`.padEnd(46, "="),
      }));
    return json(
      JSON.stringify({
        domain: "d",
        descriptors: Array.from({ length: DESCRIPTORS }, (_, at) => ({ entries: entries(at) })),
      }),
    );
  },
  "values of escapes": (seed) =>
    json(
      `{"domain":"d","descriptors":[{"entries":[{"key":"detailed","value":"${seed}${"\\u2028".repeat(43_000)}"}]}]}`,
    ),
  "values of lone surrogates": (seed) =>
    json(
      `{"domain":"d","descriptors":[{"entries":[{"key":"detailed","value":"${seed}${"\\ud800".repeat(43_000)}"}]}]}`,
    ),
  "values of escaped quotation marks": (seed) =>
    json(
      `{"domain":"d","descriptors":[{"entries":[{"key":"plain","value":"${seed}${'\\"'.repeat(130_000)}"}]}]}`,
    ),
  "a list of numbers": (seed) => json(`[${seed},${"1,".repeat(130_900)}1]`),
  "nested lists": (seed) => json(`${"[".repeat(BYTES / 2)}${seed}`),
  "empty objects": (seed) => json(`{"descriptors":[${seed}${",{}".repeat(87_000)}]}`),
  "many members": (seed) =>
    json(`{${Array.from({ length: 6500 }, (_, at) => `"${seed}/${at}/${"m".repeat(24)}":0`).join()}}`),
  "a duplicate after many members": (seed) =>
    json(`{${Array.from({ length: 6500 }, (_, at) => `"${seed}\\u0061${at}/":0`).join()},"x":1,"x":1}`),
  "a number of many digits": (seed) => json(`{"hitsAddend":"${seed}${"7".repeat(262_000)}"}`),
  "a JSON number of many digits": (seed) => json(`{"hitsAddend":${seed + 1}${"7".repeat(262_000)}}`),
  "an unknown member with a long name": (seed) => json(`{"${seed}${"\\n".repeat(131_000)}":1}`),
};

/** CPU time of this thread, in milliseconds. Some systems count in steps of 4 ms, so `work` should run for longer. */
export function cpuOf(work: () => void): number {
  const before = process.threadCpuUsage();
  work();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1000;
}

/** No CPU has an instruction for MD5, so it takes 4.7 cycles a byte on every core. */
const calibration = Buffer.alloc(3_200_000, "calibration");
const ROUNDS = 10;

/** CPU time of native code that takes 5 ms on a core of 3 GHz. V8's compiler has no effect on it. */
export function calibrate(): number {
  return (
    cpuOf(() => {
      for (let round = 0; round < ROUNDS; round++) hash("md5", calibration);
    }) / ROUNDS
  );
}

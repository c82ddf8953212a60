import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { Refusal } from "./kinds/kinds.ts";
import { parseStoreTarget } from "./store-target.ts";

const tcp = (host: string, port: number) => ({ kind: "tcp", host, port }) as const;
const plain = { tls: false, user: undefined, password: undefined };
const single = (address: object, database = 0) => ({
  target: { type: "single", address, database },
  ...plain,
});

const good: [
  type: "single" | "sentinel" | "cluster",
  url: string,
  socket: "tcp" | "unix" | undefined,
  object,
][] = [
  ["single", "localhost:6379", undefined, single(tcp("localhost", 6379))],
  ["single", "[::1]:6379", "tcp", single(tcp("::1", 6379))],
  ["single", "/run/store.sock", undefined, single({ kind: "unix", path: "/run/store.sock" })],
  ["single", "./store.sock", undefined, single({ kind: "unix", path: "./store.sock" })],
  ["single", "unix:///run/s.sock", undefined, single({ kind: "unix", path: "/run/s.sock" })],
  ["single", "store.sock", "unix", single({ kind: "unix", path: "store.sock" })],
  ["single", "redis://h", undefined, single(tcp("h", 6379))],
  ["single", "redis://h:80/3", undefined, single(tcp("h", 80), 3)],
  ["single", "redis://h:6380/", undefined, single(tcp("h", 6380))],
  [
    "single",
    "rediss://user:p%40ss@h:443/1",
    undefined,
    { ...single(tcp("h", 443), 1), tls: true, user: "user", password: "p@ss" },
  ],
  ["single", "redis://:pass@h:1", undefined, { ...single(tcp("h", 1)), password: "pass" }],
  ["single", "redis://pass@h:1", undefined, { ...single(tcp("h", 1)), password: "pass" }],
  ["single", "redis://[::1]:1", undefined, single(tcp("::1", 1))],
  [
    "sentinel",
    "mymaster, h1:26379 ,h2:26379",
    undefined,
    {
      target: { type: "sentinel", master: "mymaster", sentinels: [tcp("h1", 26379), tcp("h2", 26379)] },
      ...plain,
    },
  ],
  [
    "cluster",
    "h1:1,h2:2",
    undefined,
    { target: { type: "cluster", nodes: [tcp("h1", 1), tcp("h2", 2)] }, ...plain },
  ],
  [
    "cluster",
    "rediss://u:p@h1:1,rediss://u:p@h2:2",
    undefined,
    {
      target: { type: "cluster", nodes: [tcp("h1", 1), tcp("h2", 2)] },
      tls: true,
      user: "u",
      password: "p",
    },
  ],
];

for (const [type, url, socket, expected] of good)
  test(`${type} ${url} is read`, () => assert.deepEqual(parseStoreTarget(url, type, socket), expected));

const bad: [type: "single" | "sentinel" | "cluster", url: string, socket?: "tcp" | "unix"][] = [
  ["single", "localhost"],
  ["single", "localhost:0"],
  ["single", "localhost:65536"],
  ["single", "h1:1,h2:2"],
  ["single", "/run/store.sock", "tcp"],
  ["single", "redis://"],
  ["single", "redis://h:1/db"],
  ["single", "redis://%zz@h:1"],
  ["single", "redis://h:port"],
  ["single", "http://h:1"],
  ["sentinel", "mymaster"],
  ["sentinel", "mymaster,"],
  ["sentinel", ",h1:1"],
  ["cluster", "h1:1,"],
  ["cluster", "h1"],
  ["cluster", "redis://h1:1/2"],
];

for (const [type, url, socket] of bad)
  test(`${type} ${url} is refused`, () =>
    assert.throws(() => parseStoreTarget(url, type, socket), { name: "Refusal", message: /^must / }));

test("any text is either parsed or refused", () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.string().map((rest) => `redis://${rest}`),
        fc.webUrl(),
      ),
      fc.constantFrom("single" as const, "sentinel" as const, "cluster" as const),
      (url, type) => {
        try {
          parseStoreTarget(url, type, undefined);
        } catch (error) {
          assert.ok(error instanceof Refusal, String(error));
          assert.match(error.message, /^must /);
        }
      },
    ),
    { numRuns: 500 },
  );
});

import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import * as kinds from "./kinds.ts";
import * as lists from "./list-kinds.ts";

interface Case {
  readonly kind: kinds.Kind<never> | kinds.Kind<unknown>;
  readonly good: readonly (readonly [text: string, value: unknown])[];
  readonly bad: readonly string[];
}

const words = kinds.choice({ single: "single", Sentinel: "sentinel" });

const cases: Record<string, Case> = {
  boolean: {
    kind: kinds.bool,
    good: [
      ...["1", "t", "T", "true", "TRUE", "True"].map((text) => [text, true] as const),
      ...["0", "f", "F", "false", "FALSE", "False"].map((text) => [text, false] as const),
    ],
    bad: ["yes", "no", "tRUE", " true", "on", "2"],
  },
  "strict boolean": {
    kind: kinds.strictBool,
    good: [
      ["true", true],
      ["false", false],
    ],
    bad: ["1", "0", "TRUE", "t"],
  },
  "whole number": {
    kind: kinds.int(-5, 10_000),
    good: [
      ["10", 10],
      ["-5", -5],
      ["+5", 5],
      ["0", 0],
      ["00", 0],
      ["0x10", 16],
      ["0X1f", 31],
      ["0b101", 5],
      ["0o17", 15],
      ["017", 15],
      ["1_000", 1000],
    ],
    bad: ["ten", "1.5", "1e3", "-6", "10001", "", " 1", "0x", "08", "1__0", "1_", "9".repeat(400)],
  },
  port: {
    kind: kinds.port,
    good: [
      ["0", 0],
      ["8080", 8080],
      ["65535", 65535],
    ],
    bad: ["65536", "-1", "80x", "tcp://10.0.0.1:6379"],
  },
  number: {
    kind: kinds.decimal(0, 1),
    good: [
      ["0.8", 0.8],
      ["1", 1],
      [".5", 0.5],
      ["1e-1", 0.1],
    ],
    bad: ["1.1", "-0.1", "NaN", "Inf", "", "0.8.", "80%"],
  },
  duration: {
    kind: kinds.duration("above 0"),
    good: [
      ["10s", 10_000],
      ["150us", 0.15],
    ],
    bad: ["10", "0", "-1s", "1000h", "soon"],
  },
  choice: {
    kind: words,
    good: [
      ["single", "single"],
      ["SINGLE", "single"],
      ["sentinel", "sentinel"],
    ],
    bad: ["cluster", "singl", ""],
  },
  list: {
    kind: lists.list,
    good: [
      ["a", ["a"]],
      ["a, b,c ", ["a", "b", "c"]],
    ],
    bad: ["a,,b", "a,"],
  },
  pairs: {
    kind: lists.pairs,
    good: [
      [
        "k1:v1,k2:v2",
        [
          ["k1", "v1"],
          ["k2", "v2"],
        ],
      ],
      [
        "<k1:v1>,<k2:v2>",
        [
          ["k1", "v1"],
          ["k2", "v2"],
        ],
      ],
      ["url:http://h:1", [["url", "http://h:1"]]],
      ["a:", [["a", ""]]],
    ],
    bad: ["a", ":b", "a:1,", "a:1,a:2"],
  },
  assignments: {
    kind: lists.assignments,
    good: [
      [
        "k=v,k2=a=b",
        [
          ["k", "v"],
          ["k2", "a=b"],
        ],
      ],
    ],
    bad: ["k", "=v", "k:v"],
  },
  "listen address": {
    kind: kinds.listenAddress,
    good: [
      [":9090", { host: "", port: 9090 }],
      ["127.0.0.1:0", { host: "127.0.0.1", port: 0 }],
      ["[::1]:9090", { host: "::1", port: 9090 }],
    ],
    bad: ["9090", "localhost", "::1:9090", "h:99999", "h:port"],
  },
  "log level": {
    kind: kinds.logLevel,
    good: [
      ["WARN", "warn"],
      ["warning", "warn"],
      ["Debug", "debug"],
    ],
    bad: ["verbose", "3"],
  },
};

for (const [name, { kind, good, bad }] of Object.entries(cases)) {
  for (const [text, value] of good)
    test(`${name}: ${JSON.stringify(text)} is read`, () => assert.deepEqual(kind.read(text), value));
  for (const text of bad)
    test(`${name}: ${JSON.stringify(text.slice(0, 40))} is refused, and the message describes a valid value`, () =>
      assert.throws(() => kind.read(text), { name: "Refusal", message: /^must / }));
}

test("any text is either read or refused", () => {
  for (const { kind } of Object.values(cases))
    fc.assert(
      fc.property(fc.string(), (text) => {
        try {
          kind.read(text);
        } catch (error) {
          assert.ok(error instanceof kinds.Refusal);
        }
      }),
      { numRuns: 200 },
    );
});

test("the mask of a store's address hides the user information", () => {
  for (const [text, shown] of [
    ["redis://user:pass@host:6379", "redis://[hidden]@host:6379"],
    ["rediss://:p@ss@host:6379/1", "rediss://[hidden]@host:6379/1"],
    ["redis://a:b@h:1,redis://c:d@h:2", "redis://[hidden]@h:1,redis://[hidden]@h:2"],
    ["host:6379", "host:6379"],
  ] as const)
    assert.equal(kinds.storeAddress.mask(text), shown);
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { parseClientOptions } from "./client-options.ts";

const base = ["-domain", "d", "-descriptors", "k=v"];
const entry = (key: string, value: string) => ({ key, value });

const understood: [string, string[], object][] = [
  [
    "one dash",
    base,
    {
      domain: "d",
      dialString: "localhost:8081",
      repeat: 1,
      json: false,
      check: false,
      timeout: 5000,
      tls: undefined,
    },
  ],
  ["two dashes and =", ["--domain=d", "--descriptors=k=v", "--dial-string=h:1"], { dialString: "h:1" }],
  ["Go's underscore", [...base, "-dial_string", "h:1"], { dialString: "h:1" }],
  [
    "numbers",
    [...base, "-hits", "0", "-repeat", "3", "-timeout", "1.5s"],
    { hits: 0, repeat: 3, timeout: 1500 },
  ],
  ["switches", [...base, "-json", "-check"], { json: true, check: true }],
  ["switches with values", [...base, "-json=true", "-check=false"], { json: true, check: false }],
  [
    "a file implies TLS",
    [...base, "-grpc-server-ca-file", "ca.pem"],
    { tls: { caFile: "ca.pem", certFile: undefined, keyFile: undefined, serverName: undefined } },
  ],
  [
    "TLS alone",
    [...base, "-grpc-use-tls"],
    { tls: { caFile: undefined, certFile: undefined, keyFile: undefined, serverName: undefined } },
  ],
  ["help needs nothing else", ["-h"], { help: true }],
];
for (const [name, argv, expected] of understood) {
  test(`client flags: ${name}`, () => {
    const options = parseClientOptions(argv);
    for (const [key, value] of Object.entries(expected))
      assert.deepEqual(options[key as keyof typeof options], value, key);
  });
}

const descriptors: [string, ReturnType<typeof entry>[]][] = [
  ["a=b", [entry("a", "b")]],
  ["a=b,c=d", [entry("a", "b"), entry("c", "d")]],
  ["a=", [entry("a", "")]],
  ["a=b=c", [entry("a", "b=c")]],
  ["a=b\\,c,d=e", [entry("a", "b,c"), entry("d", "e")]],
  ["a=-domain", [entry("a", "-domain")]],
];
for (const [text, entries] of descriptors) {
  test(`descriptor ${text}`, () => {
    const options = parseClientOptions([
      "-domain",
      "d",
      `-descriptors=${text}`,
      "-descriptors",
      "z=1",
      "-hits",
      "2",
      "-negative",
    ]);
    assert.deepEqual(options.descriptors, [
      { entries, limit: undefined, hitsAddend: 2, isNegativeHits: true },
      { entries: [entry("z", "1")], limit: undefined, hitsAddend: 2, isNegativeHits: true },
    ]);
  });
}

const refused: [string[], RegExp][] = [
  [["-descriptors", "a=b"], /^-domain is missing/],
  [["-domain", "d"], /^-descriptors is missing/],
  [[...base, "-descriptors", "ab"], /"ab" is not a key=value pair/],
  [[...base, "-descriptors", "=b"], /"=b" is not a key=value pair/],
  [[...base, "-hits", "-1"], /-hits/],
  [[...base, "-hits", "1.5"], /-hits 1\.5: must be a whole number, 0 or more/],
  [[...base, "-repeat", "0"], /-repeat 0: must be a whole number, 1 or more/],
  [[...base, "-timeout", "5"], /-timeout 5: must be a duration/],
  [[...base, "-timeout", "0s"], /-timeout 0s: must be a duration/],
  [[...base, "-grpc-cert-file", "c.pem"], /must be given together/],
  [[...base, "-nonsense"], /nonsense|-n/],
  [[...base, "stray"], /stray/],
];
for (const [argv, message] of refused) {
  test(`refused: ${argv.join(" ")}`, () => {
    assert.throws(() => parseClientOptions(argv), { name: "UsageError", message });
  });
}

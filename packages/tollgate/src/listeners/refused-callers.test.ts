import assert from "node:assert/strict";
import { test } from "node:test";
import { createLogger } from "../observe/log.ts";
import { Throttle } from "../observe/throttle.ts";
import { refusedCallerLog } from "./refused-callers.ts";

function setUp() {
  const lines: string[] = [];
  const writer = { write: (line: string) => void lines.push(line), flush: async () => {}, dropped: 0 };
  let now = 0;
  const log = createLogger({ level: "warn", writer });
  const refused = refusedCallerLog(log, "gateway.example", new Throttle(60_000, () => now));
  return {
    lines,
    refused,
    pass: (milliseconds: number) => {
      now += milliseconds;
    },
  };
}

test("a refused caller is logged with its address, its subject and the reason", () => {
  const { lines, refused, pass } = setUp();
  refused({ peer: "10.0.0.1:5", reason: "it did not negotiate h2 by ALPN", subject: undefined });
  pass(60_000);
  refused({
    peer: "10.0.0.2:6",
    reason: "`verifyPeer` does not accept its certificate",
    subject: "CN=other",
  });
  assert.equal(lines.length, 2);
  assert.match(lines[0]!, /refused a TLS caller at 10\.0\.0\.1:5: it did not negotiate h2 by ALPN/);
  assert.match(
    lines[1]!,
    /at 10\.0\.0\.2:6 with the subject .*CN=other.*: its certificate does not have the DNS name gateway\.example/,
  );
});

test("many refused callers make one line a minute, with their number", () => {
  const { lines, refused, pass } = setUp();
  for (let caller = 0; caller < 1000; caller++)
    refused({ peer: `10.0.0.1:${caller}`, reason: "it presented no certificate", subject: undefined });
  assert.equal(lines.length, 1);
  pass(60_000);
  refused({ peer: "10.0.0.9:1", reason: "it presented no certificate", subject: undefined });
  assert.equal(lines.length, 2);
  assert.match(lines[1]!, /\(1000 times since the last such line\)/);
});

test("a subject is bounded and printable", () => {
  const { lines, refused } = setUp();
  refused({
    peer: "10.0.0.1:5",
    reason: "it is not trusted",
    subject: `CN=a\nlevel=fatal${"x".repeat(10_000)}`,
  });
  assert.equal(lines.length, 1);
  assert.ok(lines[0]!.length < 500);
  assert.ok(!lines[0]!.trimEnd().includes("\n"));
});

/** The report of a fault, of a remark and of a client that cannot run: verdicts, tables and file. */
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { type Case, type Client, cases, type Trial, Unable } from "../conformance/client.ts";
import { hasFailed, testClient } from "../conformance/client-report.ts";
import { printReport, writeMarkdown } from "../conformance/report.ts";
import { TestBed } from "../conformance/test-bed.ts";

let bed: TestBed;
before(async () => {
  bed = await TestBed.start();
});
after(() => bed[Symbol.asyncDispose]());

function client(name: string, trials: Partial<Record<Case, Trial | string>>): Client {
  const well: Trial = () => Promise.resolve(undefined);
  const all = Object.fromEntries(cases.map((each) => [each, trials[each] ?? well]));
  return {
    name,
    version: async () => "1.2.3",
    unable: { "unix socket": "knows no sockets" },
    trials: all as Record<Case, Trial | string>,
  };
}

const mixed = client("mixed", {
  unary: async ({ transport }) => {
    if (transport === "TLS with ALPN") throw new Error("another\nanswer");
    return undefined;
  },
  cancel: () => Promise.resolve("by closing its connection"),
  deadline: "has no option for it",
  "gzip both ways": ({ transport }) => {
    if (transport !== "cleartext") throw new Unable("sends none");
    return Promise.resolve(undefined);
  },
});

test("a fault over one transport is a FAILED cell with a note", async () => {
  const told: string[] = [];
  const report = await testClient(bed, mixed, (text) => told.push(text));
  assert.equal(hasFailed(report), true);
  assert.deepEqual(told, ["mixed: unary over TLS with ALPN: another\nanswer"]);
  const lines = printReport([report], undefined).split("\n");
  const cell = (row: string) =>
    lines
      .find((line) => line.startsWith(row))!
      .slice(row.length)
      .trim();
  assert.equal(cell("unary"), "FAILED over TLS with ALPN: another answer");
  assert.equal(cell("cleartext"), "ok");
  assert.equal(cell("TLS with ALPN"), "FAILED, see below");
  assert.equal(cell("unix socket"), "– (1)");
  assert.equal(cell("deadline"), "– (2)");
  assert.equal(cell("cancel"), "ok (3)");
  assert.equal(cell("gzip both ways"), "ok");
  assert.ok(lines.includes("(2) has no option for it"), lines.join("\n"));
});

test("a client without faults has not failed", async () => {
  assert.equal(hasFailed(await testClient(bed, client("well", {}))), false);
});

test("writes the tables between the marks of a file, and changes nothing else", async () => {
  const folder = mkdtempSync(join(tmpdir(), "grpc-wire-report-"));
  try {
    const path = join(folder, "manual.md");
    writeFileSync(path, "before\n<!-- conformance: begin -->\nold\n<!-- conformance: end -->\nafter\n");
    const h2spec = {
      version: "9.9",
      runs: [{ what: "cleartext" as const, summary: "2 tests, 2 passed", passed: true, output: "" }],
    };
    writeMarkdown(path, [await testClient(bed, mixed)], h2spec);
    const text = readFileSync(path, "utf8");
    assert.match(text, /^before\n<!-- conformance: begin -->\n\n\| {2}\| mixed 1\.2\.3 \|\n\|---\|---\|\n/);
    assert.match(text, /\n- h2spec 9\.9, strict, cleartext: 2 tests, 2 passed\n/);
    assert.match(text, /\n<!-- conformance: end -->\nafter\n$/);
    assert.doesNotMatch(text, /old/);
    writeMarkdown(path, [], h2spec);
    assert.doesNotMatch(readFileSync(path, "utf8"), /mixed/);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("a case that throws synchronously is a verdict, too", async () => {
  const hasty = client("hasty", {
    unary: () => {
      throw new Error("at once");
    },
  });
  const { verdicts } = await testClient(bed, hasty);
  assert.deepEqual(verdicts.get("unary")!.get("cleartext"), { kind: "failed", why: "at once" });
});

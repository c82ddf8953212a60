/** What becomes of a fault, a remark and a client that cannot: in the verdicts, in the tables, in the file. */
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { type Case, type Client, cases, type Trial, Unable } from "../judge/client.ts";
import { hasFailed, judge } from "../judge/judge.ts";
import { printReport, writeMarkdown } from "../judge/report.ts";
import { Stage } from "../judge/stage.ts";

let stage: Stage;
before(async () => {
  stage = await Stage.set();
});
after(() => stage[Symbol.asyncDispose]());

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

test("a fault over one transport is a FAILED cell, and named", async () => {
  const told: string[] = [];
  const judgement = await judge(stage, mixed, (text) => told.push(text));
  assert.equal(hasFailed(judgement), true);
  assert.deepEqual(told, ["mixed: unary over TLS with ALPN: another\nanswer"]);
  const lines = printReport([judgement], undefined).split("\n");
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

test("a client without a fault has not failed", async () => {
  assert.equal(hasFailed(await judge(stage, client("well", {}))), false);
});

test("the tables go between the marks of a file, and nothing else of it changes", async () => {
  const folder = mkdtempSync(join(tmpdir(), "grpc-wire-report-"));
  try {
    const path = join(folder, "manual.md");
    writeFileSync(path, "before\n<!-- judges: begin -->\nold\n<!-- judges: end -->\nafter\n");
    const conformance = {
      version: "9.9",
      runs: [{ transport: "cleartext" as const, summary: "2 tests, 2 passed", passed: true, report: "" }],
    };
    writeMarkdown(path, [await judge(stage, mixed)], conformance);
    const text = readFileSync(path, "utf8");
    assert.match(text, /^before\n<!-- judges: begin -->\n\n\| {2}\| mixed 1\.2\.3 \|\n\|---\|---\|\n/);
    assert.match(text, /\n- h2spec 9\.9, strict, cleartext: 2 tests, 2 passed\n/);
    assert.match(text, /\n<!-- judges: end -->\nafter\n$/);
    assert.doesNotMatch(text, /old/);
    writeMarkdown(path, [], conformance);
    assert.doesNotMatch(readFileSync(path, "utf8"), /mixed/);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("a trial that throws at once, and not by its promise, is a verdict too", async () => {
  const hasty = client("hasty", {
    unary: () => {
      throw new Error("at once");
    },
  });
  const { verdicts } = await judge(stage, hasty);
  assert.deepEqual(verdicts.get("unary")!.get("cleartext"), { kind: "failed", why: "at once" });
});

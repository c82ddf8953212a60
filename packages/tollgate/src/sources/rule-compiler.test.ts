import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { scaled } from "../../../../tools/time-scale.ts";
import { COMPILER_THREAD } from "../installation.ts";
import { IndexedRuleSet } from "../rules/rule-set.ts";
import type { CompileJob } from "./compile-job.ts";
import { RuleCompiler } from "./rule-compiler.ts";

const YAML = `domain: web
descriptors:
  - key: path
    value: /api/*
    descriptors:
      - key: user
        rate_limit: { name: slow, unit: hour, requests_per_unit: 4294967295, replaces: [{ name: fast }] }
        metadata: { plan: [1, null, { deep: "é" }] }
  - { key: path, value: fast, rate_limit: { name: fast, unlimited: true } }
`;

/** A module that a compiler runs as its thread. */
const thread = (code: string) => new URL(`data:text/javascript,${encodeURIComponent(code)}`);

async function withFolder(yaml: string, body: (job: CompileJob) => Promise<void>): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), "tollgate-compiler-"));
  try {
    await writeFile(join(directory, "a.yaml"), yaml);
    await body({ kind: "folder", directory, ignoreDotFiles: false, mergeDomains: false, isLast: true });
  } finally {
    await rm(directory, { recursive: true });
  }
}

test("another thread compiles the same rules as this one, in memory that both use", async () => {
  const compiler = new RuleCompiler(COMPILER_THREAD);
  await withFolder(YAML, async (job) => {
    const [there, here] = [await compiler.run(job), await compiler.runHere(job)];
    assert.deepEqual(there, here);
    assert.ok(there.compiled!.nodes.buffer instanceof SharedArrayBuffer);
    const [first, second] = [there, here].map(({ compiled }) => new IndexedRuleSet(compiled!));
    assert.deepEqual([...first!.rules()], [...second!.rules()]);
    const entries = [
      { key: "path", value: "/api/x" },
      { key: "user", value: "ann" },
    ];
    const { rule } = first!.match("web", entries)!;
    assert.equal(rule.requestsPerUnit, 4294967295);
    assert.deepEqual(rule.metadata, { plan: [1, null, { deep: "é" }] });
    assert.deepEqual(rule.replaces, ["fast"]);
  });
  await compiler.close();
});

test("another thread reports the same faults", async () => {
  const compiler = new RuleCompiler(COMPILER_THREAD);
  await withFolder("domain: web\ndescriptors: 5\n", async (job) => {
    const there = await compiler.run(job);
    assert.equal(there.compiled, undefined);
    assert.equal(there.diagnostics[0]!.sourceLine, "descriptors: 5");
    assert.deepEqual(there, await compiler.runHere(job));
  });
  await compiler.close();
});

const failures: Readonly<Record<string, [code: string, pattern: RegExp]>> = {
  "that ends": [
    "import { parentPort } from 'node:worker_threads'; parentPort.on('message', () => process.exit(3));",
    /the thread that compiles the rules ended/,
  ],
  "that throws": [
    "import { parentPort } from 'node:worker_threads'; parentPort.on('message', () => { throw new Error('broken'); });",
    /the thread that compiles the rules failed: broken/,
  ],
  "that needs too much memory": [
    "import { parentPort } from 'node:worker_threads'; let kept; parentPort.on('message', () => { for (;;) kept = { kept }; });",
    /the rules need more than 64 MiB of memory to be compiled/,
  ],
};

for (const [name, [code, pattern]] of Object.entries(failures)) {
  test(`a thread ${name} fails its job only, and the next job has a new thread`, {
    timeout: scaled(60_000),
  }, async () => {
    const compiler = new RuleCompiler(thread(code), 64);
    await withFolder(YAML, async (job) => {
      await assert.rejects(compiler.run(job), { name: "CompilerError", message: pattern });
      await assert.rejects(compiler.run(job), { name: "CompilerError", message: pattern });
    });
    await compiler.close();
  });
}

test("a closed compiler fails its running job, and takes no other", { timeout: scaled(20_000) }, async () => {
  const compiler = new RuleCompiler(
    thread("import { parentPort } from 'node:worker_threads'; parentPort.on('message', () => {});"),
  );
  await withFolder(YAML, async (job) => {
    const failed = assert.rejects(compiler.run(job), { name: "CompilerError" });
    await compiler.close();
    await failed;
    await assert.rejects(compiler.run(job), { message: "the compiler is closed" });
  });
});

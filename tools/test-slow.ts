/**
 * `npm run test:slow`: simulates a slow machine. Runs tests on one core, with four busy loops on the same core.
 *
 *   npm run test:slow                        the test files that use timers or clocks, or helpers that wait
 *   npm run test:slow -- packages/waymark    the files under a path
 *   npm run test:slow -- --times 5 PATH...   several runs, stops at the first failure
 *   npm run test:slow -- --minutes 8         starts no file after 8 minutes; begins with another file each day
 *   npm run test:slow -- --retry             runs files that failed once more, and names them at the end
 *   npm run test:slow -- --verbose           also prints the tests that pass
 *
 * A test that passes here does not depend on the speed of the machine. Needs `taskset` (Linux, util-linux).
 */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { globSync } from "node:fs";
import { parseArgs } from "node:util";
import { boundedRun, rotated } from "./bounded-run.ts";
import { inOrder } from "./test-order.ts";
import { timingFiles } from "./timing-files.ts";

const BUSY_LOOPS = 4;
/** Four times the usual limit, because a test shares its core with four busy loops. A test that hangs must end, too. */
const TEST_TIMEOUT_MS = 960_000;

/**
 * Test files at once. The kernel divides the core between all processes, so four files beside four loops have half of it.
 * With two files, the loops had most of it, and a run took half as long again.
 */
const CONCURRENCY = 4;

/** Tests whose time goes into npm, builds and the start of other servers. `npm test` runs them. */
const BUILDS = [
  "packages/tollgate/test/packed.test.ts",
  "packages/waymark/test/manual.test.ts",
  "packages/waymark/test/python-docs.test.ts",
  "packages/waymark/test/python-table.test.ts",
];

function timingProneFiles(): string[] {
  const files = globSync(
    ["packages/*/src/**/*.test.ts", "packages/*/test/**/*.test.ts", "examples/**/*.test.ts"],
    { exclude: ["**/node_modules/**", "**/fixtures/**", ...BUILDS] },
  );
  return inOrder(timingFiles(files, process.cwd()));
}

/** Finds a core that this process may use. */
function oneCore(): string {
  const { stdout } = spawnSync("taskset", ["-cp", String(process.pid)], { encoding: "utf8" });
  const core = stdout?.match(/(\d+)\s*$/)?.[1];
  if (core === undefined) {
    console.error("npm run test:slow needs taskset (Debian package util-linux)");
    process.exit(1);
  }
  return core;
}

/** Starts a busy loop. It exits with this process, whose exit closes its standard input. */
function startBusyLoop(core: string): ChildProcess {
  const loop =
    "process.stdin.on('end', () => process.exit()).resume(); (function spin() { const end = Date.now() + 20; while (Date.now() < end); setImmediate(spin); })()";
  return spawn("taskset", ["-c", core, process.execPath, "-e", loop], {
    stdio: ["pipe", "ignore", "inherit"],
  });
}

function runTests(core: string, files: readonly string[]): Promise<number> {
  const child = spawn("taskset", ["-c", core, process.execPath, "tools/test.ts", ...options, ...files], {
    stdio: "inherit",
    env: {
      ...process.env,
      TEST_TIMEOUT_MS: String(TEST_TIMEOUT_MS),
      TEST_CONCURRENCY: String(CONCURRENCY),
    },
  });
  return new Promise((resolve) => child.on("exit", (code) => resolve(code ?? 1)));
}

const { values, positionals } = parseArgs({
  options: {
    times: { type: "string", default: "1" },
    minutes: { type: "string" },
    retry: { type: "boolean", default: false },
    list: { type: "boolean", default: false },
    verbose: { type: "boolean", default: false },
  },
  allowPositionals: true,
});
const all = positionals.length > 0 ? positionals : timingProneFiles();
if (values.list) {
  console.log(all.join("\n"));
  process.exit(0);
}
const isBounded = values.minutes !== undefined;
const files = isBounded ? rotated(all, new Date()) : all;
const budgetMs = isBounded ? Number(values.minutes) * 60_000 : Number.POSITIVE_INFINITY;
const options = values.verbose ? ["--verbose"] : [];
const core = oneCore();
const loops = Array.from({ length: BUSY_LOOPS }, () => startBusyLoop(core));
let status = 0;
for (let run = 1; run <= Number(values.times) && status === 0; run++) {
  console.error(`run ${run} of ${values.times}: core ${core}, ${BUSY_LOOPS} busy loops`);
  const result = await boundedRun(files, {
    run: (group) => runTests(core, group),
    budgetMs,
    retry: values.retry,
    // One call of the test runner if nothing can end the run or repeat a part of it.
    // A larger group wastes less time at its end, when its last file runs alone.
    groupSize: isBounded || values.retry ? 8 * CONCURRENCY : files.length,
  });
  status = result.status;
  const ran = files.length - result.left.length;
  console.error(
    `${ran} of ${files.length} test files ran${result.left.length > 0 ? `, from ${files[0]} to ${files[ran - 1]}` : ""}`,
  );
  for (const group of result.repeated)
    console.error(`failed once, and passed when they ran again: ${group.join(" ")}`);
}
for (const loop of loops) loop.kill();
process.exitCode = status;

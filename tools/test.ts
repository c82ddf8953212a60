/**
 * `npm test`: installs what the tests need beyond npm, then runs every test with node's own runner.
 *
 *   npm test                          everything
 *   npm test -- packages/waymark      the tests under a path (a folder or files)
 *   npm test -- --verbose             also prints the tests that pass
 *   npm run coverage                  also prints how much of each package the tests cover
 *
 * As root on a machine with apt, installs missing Debian packages. Elsewhere prints them in one
 * line. Nothing is skipped: a test whose server is missing fails and says so.
 */
import { spawnSync } from "node:child_process";
import { accessSync, constants, globSync, statSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { delimiter, join, resolve } from "node:path";
import { run } from "node:test";
import { spec } from "node:test/reporters";
import { parseArgs } from "node:util";
import { inOrder } from "./test-order.ts";
import reporter from "./test-reporter.ts";

/** A command on the PATH, or its full path if another Python's command does not work -> the Debian package that contains it. */
const needs: Record<string, string> = {
  curl: "curl",
  openssl: "openssl",
  "redis-server": "redis-server",
  "redis-sentinel": "redis-sentinel",
  memcached: "memcached",
  h2load: "nghttp2-client",
  "/usr/bin/uvicorn": "uvicorn",
  "/usr/bin/hypercorn": "python3-hypercorn",
  "/usr/bin/gunicorn": "gunicorn",
  "/usr/bin/daphne": "daphne",
  "/usr/bin/pip3": "python3-pip",
  "/usr/sbin/nginx": "nginx",
  zsh: "zsh",
  fish: "fish",
};

const roots = ["packages/*/src", "packages/*/test", "examples", "tools"];

function onPath(command: string): boolean {
  const folders = `${process.env.PATH ?? ""}${delimiter}/usr/sbin${delimiter}/sbin`.split(delimiter);
  return folders.some((folder) => {
    try {
      accessSync(resolve(folder, command), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

function installMissing(): void {
  const missing = Object.entries(needs).filter(([command]) => !onPath(command));
  if (missing.length === 0) return;
  const packages = [...new Set(missing.map(([, name]) => name))];
  if (process.getuid?.() === 0 && onPath("apt-get")) {
    console.error(`installing what the tests need: ${packages.join(" ")}`);
    const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive", RUNLEVEL: "1" };
    const apt = (args: string[]) =>
      spawnSync("apt-get", args, { env, stdio: ["ignore", "ignore", "inherit"] });
    apt(["-qq", "update"]);
    apt(["-qq", "install", "-y", "--no-install-recommends", ...packages]);
  }
  const still = [...new Set(missing.filter(([command]) => !onPath(command)).map(([, name]) => name))];
  if (still.length > 0) {
    console.error(`the tests need these Debian packages: sudo apt-get install ${still.join(" ")}`);
    process.exit(1);
  }
}

function testFiles(paths: string[]): string[] {
  if (paths.length === 0)
    return inOrder(
      globSync(
        roots.map((root) => `${root}/**/*.test.ts`),
        skip,
      ),
    );
  return paths.flatMap((path) =>
    statSync(path).isDirectory() ? inOrder(globSync(`${path}/**/*.test.ts`, skip)) : [path],
  );
}

// `npm run browser` runs the tests of a browser.
const skip = { exclude: ["**/node_modules/**", "**/fixtures/**", "examples/*/browser/**"] };
const { values, positionals } = parseArgs({
  options: { verbose: { type: "boolean", default: false }, coverage: { type: "boolean", default: false } },
  allowPositionals: true,
});
const files = testFiles(positionals);
if (files.length === 0) {
  console.error(`no test files under ${positionals.join(", ")}`);
  process.exit(1);
}
installMissing();
process.env.PATH += `${delimiter}/usr/sbin`;
/**
 * Each test file is a process that loads up to 400 modules. Node keeps their compiled code in the folder where it keeps
 * Tollgate's, which takes a third of the CPU off many files. Not for coverage, which would be less precise.
 */
if (!values.coverage) process.env.NODE_COMPILE_CACHE = join(tmpdir(), "node-compile-cache");
/** The command `node --test` would sort the files by name. */
const events = run({
  files: files.map((file) => resolve(file)),
  // One file more than cores would be faster by what files wait, but made tests fail that measure time. Each file may need
  // 300 MB of memory.
  concurrency: Number(process.env.TEST_CONCURRENCY ?? Math.min(8, Math.max(2, availableParallelism()))),
  timeout: Number(process.env.TEST_TIMEOUT_MS ?? 240_000),
  coverage: values.coverage,
  coverageIncludeGlobs: ["packages/*/src/**/*.ts"],
  coverageExcludeGlobs: ["**/*.{test,fixture,arbitrary}.ts", "**/gen/**"],
});
// Only the summary of all files ends the run with success. A run that breaks off has none.
process.exitCode = 1;
events.on("test:summary", ({ file, success }) => {
  if (file === undefined && success) process.exitCode = 0;
});
events.compose(values.verbose ? new spec() : reporter).pipe(process.stdout);

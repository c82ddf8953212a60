import assert from "node:assert/strict";
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { type TestContext, test } from "node:test";
import { type AccessLogOptions, accessLog, requestId } from "@tollway/waymark/kit";
import { applicationWith, ask } from "./support.fixture.ts";

async function linesOf(options: AccessLogOptions, paths: readonly string[]): Promise<string[]> {
  const lines: string[] = [];
  const id = requestId({ generate: () => "id-1" });
  const log = accessLog({ id, write: (line) => lines.push(line), ...options });
  const application = applicationWith([id, log]);
  for (const path of paths) await (await ask(application, path)).text();
  return lines;
}

test("json: a line for every answer, when it has ended", async () => {
  const lines = await linesOf({}, ["/a?secret=1", "/stream", "/x/y"]);
  const entries = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  for (const entry of entries) {
    assert.match(String(entry.time), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    assert.ok(typeof entry.duration === "number" && entry.duration >= 0);
    entry.time = entry.duration = "";
  }
  const common = { time: "", id: "id-1", method: "GET", duration: "" };
  assert.deepEqual(entries, [
    { ...common, path: "/a", route: "/", status: 400, bytes: Number(entries[0]!.bytes) },
    { ...common, path: "/stream", route: "/", status: 200, bytes: 6 },
    { ...common, path: "/x/y", route: "/", status: 404, bytes: Number(entries[2]!.bytes) },
  ]);
});

test("json: a line has the members of an entry, in their order", async () => {
  const paths = ["/json?a=1", "/stream", "/x%22y", `/${"é".repeat(3)}`, "/error"];
  const plain = await linesOf({ query: true }, paths);
  const entries = await linesOf({ query: true, format: (entry) => JSON.stringify(entry) }, paths);
  const shown = (line: string) => line.replace(/"time":"[^"]+"/, "").replace(/"duration":[\d.]+/, "");
  assert.deepEqual(plain.map(shown), entries.map(shown));
});

test("a line has the time of the wall clock, which steps when a frozen environment runs again", async (context) => {
  const times = ["2030-01-01T12:00:00.999Z", "2030-01-01T13:00:00.001Z"];
  context.mock.timers.enable({ apis: ["Date"] });
  for (const format of ["json", "text"] as const) {
    const written: string[] = [];
    const application = applicationWith([accessLog({ format, write: (line) => written.push(line) })]);
    for (const time of times) {
      context.mock.timers.setTime(Date.parse(time));
      await (await ask(application, "/json")).text();
      assert.ok(written.at(-1)!.includes(time), `${time}: ${written.at(-1)}`);
    }
  }
});

test("json: a duration is a number with three decimals at most", async (context) => {
  let now = 0;
  context.mock.method(performance, "now", () => now);
  const written: string[] = [];
  const log = accessLog({ write: (line) => written.push(line) });
  for (const duration of [0, 0.0004, 0.001, 0.25, 0.9996, 12, 1234.5678]) {
    const step = {
      onAnswer() {
        now += duration;
      },
    };
    await (await ask(applicationWith([log, step]), "/json")).text();
    assert.match(written.at(-1)!, new RegExp(`"duration":${Math.round(duration * 1000) / 1000},`));
  }
});

test("text, an own format, the query, a skipped request, and further members", async () => {
  const rows: [AccessLogOptions, RegExp][] = [
    [{ format: "text" }, /^\S+Z GET \/json 200 [\d.]+ms 15B id=id-1$/],
    [{ format: "text", extra: () => ({ user: "a b", n: 1 }) }, / id=id-1 user="a b" n=1$/],
    [{ format: ({ status, path }) => `${status} ${path}` }, /^200 \/json$/],
    [{ extra: () => ({ user: "ann" }) }, /"user":"ann"\}$/],
  ];
  for (const [options, expected] of rows)
    assert.match((await linesOf(options, ["/json"])).join("|"), expected);
  assert.match((await linesOf({ query: true }, ["/a?b=1"]))[0]!, /"path":"\/a\?b=1"/);
  assert.deepEqual(await linesOf({ skip: ({ path }) => path === "/json" }, ["/json"]), []);
});

test("no request can forge a line or act on a terminal", async () => {
  const hostile = { write: () => undefined, extra: () => ({ note: 'x\n" \u001b[2J \u009b2J \u2028 id=2' }) };
  for (const format of ["json", "text"] as const) {
    const [line] = await linesOf({ format, extra: hostile.extra }, ["/json"]);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the test looks for them
    assert.doesNotMatch(line!, /[\x00-\x1f\x7f-\x9f\u2028\u2029]/);
    if (format === "json") assert.equal(JSON.parse(line!).note, hostile.extra().note);
    else assert.match(line!, / note="x\\n\\" /);
  }
});

test("lines go to standard output, and the stop writes the last ones", () => {
  const program = `
    import { Application, Controller } from "@tollway/waymark";
    import { accessLog } from "@tollway/waymark/kit";
    class Default extends Controller { GET() { return 1; } }
    const application = new Application({ controllers: { Default }, use: [accessLog({ format: ({ path }) => path })] });
    await application.fetch(new Request("http://localhost/"));
    await application.fetch(new Request("http://localhost/no"));
    await application.stop();
    process.exit();`;
  const printed = execFileSync(process.execPath, ["--input-type=module", "-e", program], {
    cwd: import.meta.dirname,
  });
  assert.equal(String(printed), "/\n/no\n");
});

test("on Lambda, a line is written before the invocation ends: the environment may not run again", () => {
  const program = `
    import { Application, Controller } from "@tollway/waymark";
    import { accessLog } from "@tollway/waymark/kit";
    import { lambda } from "@tollway/waymark/lambda";
    class Default extends Controller { GET() { return 1; } }
    const application = new Application({ controllers: { Default }, use: [accessLog({ format: ({ path }) => path })] });
    const http = { method: "GET" };
    await lambda(application)({ version: "2.0", rawPath: "/x", requestContext: { http } });
    process.kill(process.pid, "SIGKILL");`;
  const { stdout } = spawnSync(process.execPath, ["--input-type=module", "-e", program], {
    cwd: import.meta.dirname,
    env: { ...process.env, AWS_LAMBDA_FUNCTION_NAME: "application" },
    encoding: "utf8",
  });
  assert.equal(stdout, "/x\n");
});

/** An application whose log goes to standard output. `ask(n)` sends n requests. */
const PROGRAM = `
  import { Application, Controller } from "@tollway/waymark";
  import { accessLog } from "@tollway/waymark/kit";
  class Default extends Controller { GET() { return 1; } }
  const log = accessLog();
  const application = new Application({ controllers: { Default }, use: [log] });
  const request = new Request("http://localhost/" + "p".repeat(10_000));
  async function ask(count) { for (let at = 0; at < count; at++) await application.fetch(request); }
  const tell = (value) => console.error(JSON.stringify(value));
`;

function start(context: TestContext, program: string) {
  const args = ["--input-type=module", "-e", PROGRAM + program];
  const child = spawn(process.execPath, args, { cwd: import.meta.dirname, stdio: ["pipe", "pipe", "pipe"] });
  context.after(() => child.kill("SIGKILL"));
  return child;
}

test("a reader that does not read: waiting lines are bounded, others are counted, and the log says so later", async (context) => {
  const child = start(
    context,
    `
    await ask(300);
    tell({ dropped: log.dropped, waiting: process.stdout.writableLength });
    process.stdin.once("data", async () => {
      while (process.stdout.writableLength > 0) await new Promise((next) => setTimeout(next, 5));
      await ask(1);
      await application.stop();
      process.exit();
    });`,
  );
  const [told] = (await once(child.stderr, "data")) as [Buffer];
  const { dropped, waiting } = JSON.parse(String(told)) as { dropped: number; waiting: number };
  assert.ok(dropped > 0 && dropped < 300, `${dropped} lines were dropped`);
  assert.ok(waiting < 2_000_000, `${waiting} characters wait`);
  child.stdin.write("go");
  const lines = (await text(child.stdout)).trimEnd().split("\n");
  const entries = lines.map((line) => JSON.parse(line) as { dropped?: number; status?: number });
  const reported = entries.reduce((sum, entry) => sum + (entry.dropped ?? 0), 0);
  assert.ok(reported >= dropped);
  assert.equal(entries.filter(({ status }) => status === 404).length, 301 - reported);
});

test("a stop waits until a slow reader has the lines", async (context) => {
  const child = start(context, "await ask(60); tell(0); await application.stop(); process.exit();");
  await once(child.stderr, "data");
  assert.equal((await text(child.stdout)).trimEnd().split("\n").length, 60);
});

test("a reader that goes away does not end the process", async (context) => {
  const child = start(
    context,
    `
    process.stdin.once("data", async () => {
      await ask(20);
      await new Promise((next) => setTimeout(next, 0));
      await ask(20);
      await application.stop();
      tell({ dropped: log.dropped });
      process.exit();
    });`,
  );
  child.stdout.destroy();
  await once(child.stdout, "close");
  child.stdin.write("go");
  assert.deepEqual(JSON.parse(await text(child.stderr)), { dropped: 40 });
});

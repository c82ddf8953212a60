/** AWS Lambda: built functions under Lambda's own runtime interface client, behind a function URL. */
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { installPacked } from "../test/support/packed.ts";
import { type LambdaProgram, serveFunction } from "./lambda/function-url.ts";
import { linkBundler, waymark } from "./packed.ts";

const folder = await installPacked("waymark");
linkBundler(folder);
writeFileSync(
  join(folder, "controllers.ts"),
  `import { Controller } from "@tollway/waymark";

// A function with an open timer, as database connections have.
setInterval(() => undefined, 1000);

export class Answers extends Controller {
  GET(kind: string): unknown {
    this.response.headers.append("set-cookie", "a=1");
    this.response.headers.append("set-cookie", "b=2");
    this.response.headers.set("x-process", String(process.pid));
    if (kind === "text") return new Response("gr\\u00fc\\u00df");
    if (kind === "bytes") return new Uint8Array([0xff, 0x00, 0xfe]);
    if (kind === "nothing") return undefined;
    if (kind === "unchanged") return new Response(null, { status: 304, headers: { etag: '"1"' } });
    if (kind === "moved") return new Response(null, { status: 303, headers: { location: "/" } });
    if (kind === "large") return new Response("x".repeat(1_000_000));
    if (kind === "pieces") return pieces();
    if (kind === "failing") return failing();
    throw new Error("a secret");
  }
}

async function* pieces() {
  for (let n = 0; n < 3; n++) yield { n, text: "x".repeat(100_000) };
}

async function* failing() {
  yield { n: 1 };
  await new Promise(setImmediate);
  throw new Error("a secret");
}

/** Sends the second piece after another request. */
export class Slow extends Controller {
  async *GET() {
    yield { n: 1 };
    while (!(await import("node:fs")).existsSync(process.env.RELEASE!)) await new Promise((resolve) => setTimeout(resolve, 5));
    yield { n: 2 };
  }
}
`,
);
writeFileSync(
  join(folder, "app.ts"),
  `import { Application } from "@tollway/waymark";
export const application = new Application({ log: (error) => console.log("logged:", String(error)) });
`,
);
const release = join(folder, "release");

async function serve(target: string): Promise<LambdaProgram> {
  const file = join(folder, `${target}.mjs`);
  await waymark(folder, "build", "--app=app.ts", `--target=${target}`, `--out=${file}`);
  return serveFunction(file, { RELEASE: release });
}

const CASES: readonly [
  kind: string,
  status: number,
  body: string | number,
  headers?: Record<string, string>,
][] = [
  ["text", 200, "grüß"],
  ["bytes", 200, 3, { "content-type": "application/octet-stream" }],
  ["nothing", 204, ""],
  ["unchanged", 304, "", { etag: '"1"' }],
  ["moved", 303, "", { location: "/" }],
  ["large", 200, 1_000_000],
  ["pieces", 200, 300_000 + 3 * '{"n":0,"text":""}\n'.length],
  ["error", 500, '{"type":"about:blank","title":"Internal Server Error","status":500}'],
];

for (const target of ["lambda", "lambda-stream"])
  test(target, async (context) => {
    const program = await serve(target);
    const get = (path: string, init: RequestInit = {}) =>
      fetch(`${program.url}${path}`, { redirect: "manual", ...init });
    for (const method of ["GET", "HEAD"])
      for (const [kind, status, body, headers = {}] of CASES)
        await context.test(`${method} ${kind}`, async () => {
          const response = await get(`/answers/${kind}`, { method });
          assert.equal(response.status, status, program.printed());
          const sent = new Uint8Array(await response.arrayBuffer());
          if (method === "HEAD") assert.equal(sent.length, 0);
          else if (typeof body === "number") assert.equal(sent.length, body);
          else assert.equal(Buffer.from(sent).toString(), body);
          for (const [name, value] of Object.entries(headers))
            assert.equal(response.headers.get(name), value);
          if (status < 500) assert.deepEqual(response.headers.getSetCookie(), ["a=1", "b=2"]);
        });
    await context.test("an answer that fails half way leaves the environment alive", async () => {
      const failing = await get("/answers/failing");
      if (target === "lambda") assert.equal(failing.status, 500);
      else {
        assert.equal(failing.status, 200);
        await assert.rejects(failing.text());
      }
      assert.equal((await get("/answers/text")).status, 200);
      assert.match(program.printed(), /logged: Error: a secret/);
    });
    await context.test("one environment has answered all of them", () => {
      assert.deepEqual(
        [program.environments.length, program.environments[0]!.isAlive],
        [1, true],
        program.printed(),
      );
    });
    await context.test(
      "an event that is not a request is an error, and the next invocation runs",
      async () => {
        const outcome = await program.environments[0]!.invoke({ Records: [] });
        assert.equal(outcome.kind, "failed");
        assert.match(JSON.stringify(outcome), /TypeError/);
        assert.equal((await get("/answers/text")).status, 200);
      },
    );
    if (target === "lambda-stream")
      await context.test("the caller gets each piece as it arrives", async () => {
        const { body } = await get("/slow");
        const reader = body!.pipeThrough(new TextDecoderStream() as never).getReader();
        assert.deepEqual(await reader.read(), { done: false, value: '{"n":1}\n' });
        writeFileSync(release, "");
        assert.deepEqual(await reader.read(), { done: false, value: '{"n":2}\n' });
        assert.equal((await reader.read()).done, true);
      });
    await program.stop();
  });

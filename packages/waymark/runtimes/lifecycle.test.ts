/** Start, stop and clients that leave, on the runtimes whose servers run as programs. */
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { test } from "node:test";
import { installPacked } from "../test/support/packed.ts";
import { linkBundler, waymark } from "./packed.ts";
import { type Program, serveFile, serveWorker } from "./programs.ts";

const folder = await installPacked("waymark");
linkBundler(folder);
writeFileSync(
  join(folder, "controllers.ts"),
  `import { Controller } from "@tollway/waymark";
import { heartbeat } from "@tollway/waymark/kit";

let release = () => {};

export class Address extends Controller {
  GET() { return this.remoteAddress; }
}

/** Answers once the stop has begun. */
export class Slow extends Controller {
  async GET() {
    console.log("slow began");
    await new Promise<void>((resolve) => { release = resolve; });
    return "complete";
  }
}

export class Events extends Controller {
  async *GET() {
    yield { n: 1 };
    await new Promise((resolve) => this.signal.addEventListener("abort", resolve, { once: true }));
    release();
    console.log("events ended");
  }
}

/** Its client gets the head, and nothing else. */
export class Silent extends Controller {
  async *GET() {
    await new Promise((resolve) => this.signal.addEventListener("abort", resolve, { once: true }));
    yield 1;
  }
}

/** Its source waits for the signal, and its client leaves. */
export class Quiet extends Controller {
  GET() { return heartbeat(this.news(), 10); }
  async *news() {
    yield { n: 1 };
    await new Promise((resolve) => this.signal.addEventListener("abort", resolve, { once: true }));
    console.log("quiet ended");
  }
}

/** A stream whose client leaves. */
export class Endless extends Controller {
  async *GET() {
    try {
      for (let n = 0; !this.signal.aborted; n++) {
        yield { n };
        await new Promise((resolve) => setTimeout(resolve, 1));
      }
    } finally {
      console.log("endless ended");
    }
  }
}
`,
);
writeFileSync(
  join(folder, "app.ts"),
  `import { Application } from "@tollway/waymark";
export const application = new Application({
  onStart: () => console.log("started"),
  onStop: () => console.log("stopped"),
});
`,
);

async function printed({ printed: text }: Program, pattern: RegExp): Promise<void> {
  while (!pattern.test(text())) await new Promise((resolve) => setTimeout(resolve, 10));
}

/** Leaves two streams. Both end, and the server does not call it an error. */
async function leave(program: Program): Promise<void> {
  for (const name of ["endless", "quiet"]) {
    const leaving = new AbortController();
    const { body } = await fetch(`${program.url}/${name}`, {
      headers: { accept: "text/event-stream" },
      signal: leaving.signal,
    });
    await body!.getReader().read();
    leaving.abort();
    await printed(program, new RegExp(`${name} ended`));
  }
  assert.doesNotMatch(program.printed(), /error/i);
}

for (const runtime of ["node", "bun", "deno"] as const)
  test(runtime, async () => {
    const file = join(folder, `${runtime}.mjs`);
    await waymark(folder, "build", "--app=app.ts", `--target=${runtime}`, `--out=${file}`);
    const program = await serveFile(runtime, file);
    const { url } = program;
    await printed(program, /started/);
    assert.equal(await (await fetch(`${url}/address`)).json(), "127.0.0.1");

    await leave(program);
    const silent = await fetch(`${url}/silent`, { headers: { accept: "text/event-stream" } });
    assert.equal(silent.headers.get("content-type"), "text/event-stream");
    await silent.body!.cancel();

    const slow = fetch(`${url}/slow`);
    await printed(program, /slow began/);
    const events = await fetch(`${url}/events`, { headers: { accept: "text/event-stream" } });
    const reader = events.body!.getReader();
    await reader.read();
    const status = program.stop();
    await printed(program, /events ended/);
    assert.equal(await (await slow).json(), "complete");
    assert.equal((await reader.read()).done, true);
    assert.equal(await status, 0, program.printed());
    assert.match(program.printed(), /stopped/);
  });

test("workerd", async () => {
  const file = join(folder, "worker.mjs");
  await waymark(folder, "build", "--app=app.ts", "--target=worker", `--out=${file}`);
  for (const date of ["oldest", "newest"] as const) {
    const program = await serveWorker(file, { date });
    await leave(program);
    await program.stop();
  }
});

test("workerd: the first client leaves during the start", async () => {
  writeFileSync(
    join(folder, "slow.ts"),
    `import { Application } from "@tollway/waymark";
export const application = new Application({
  async onStart() {
    console.log("starting");
    await new Promise((resolve) => setTimeout(resolve, 200));
  },
});
`,
  );
  const file = join(folder, "slow-worker.mjs");
  await waymark(folder, "build", "--app=slow.ts", "--target=worker", `--out=${file}`);
  for (const date of ["oldest", "newest"] as const) {
    const program = await serveWorker(file, { date });
    const first = connect(program.port, "127.0.0.1");
    first.write("GET /address HTTP/1.1\r\nhost: localhost\r\n\r\n");
    await printed(program, /starting/);
    first.resetAndDestroy();
    assert.equal((await fetch(`${program.url}/address`)).status, 204);
    await program.stop();
  }
});

import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { closeSync, constants, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { writerTo } from "./descriptor-writer.ts";

const module = JSON.stringify(new URL("./descriptor-writer.ts", import.meta.url).href);

function run(code: string, stderr: "pipe" | number = "pipe"): ReturnType<typeof spawn> {
  const script = `import { writerTo } from ${module};\n${code}`;
  return spawn(process.execPath, ["--input-type=module", "-e", script], { stdio: ["pipe", "pipe", stderr] });
}

async function collect(stream: NodeJS.ReadableStream): Promise<string> {
  let text = "";
  for await (const chunk of stream) text += String(chunk);
  return text;
}

/** The descriptor that the child writes to, and the end that reads it. */
const channels = {
  "a socket, as of a Node parent": () => ({ stdio: "pipe" as const, read: undefined, close: () => {} }),
  "a pipe": () => {
    const folder = mkdtempSync(join(tmpdir(), "tollgate-fifo-"));
    const path = join(folder, "fifo");
    assert.equal(spawnSync("mkfifo", [path]).status, 0);
    const descriptor = openSync(path, constants.O_RDWR | constants.O_NONBLOCK);
    const writable = openSync(path, constants.O_WRONLY);
    return {
      stdio: writable,
      read: () => {
        closeSync(writable);
        const socket = new Socket({ fd: descriptor, readable: true, writable: false });
        return socket;
      },
      close: () => rmSync(folder, { recursive: true }),
    };
  },
};

describe("writing to a descriptor", () => {
  for (const [name, open] of Object.entries(channels))
    it(`to ${name} does not wait for a stalled reader, buffers a bounded amount, and reports dropped lines`, async () => {
      const channel = open();
      const child = run(
        `const out = writerTo(2, { maxHeldBytes: 100_000, onRoom: (dropped) => "dropped " + dropped + "\\n" });
         const line = "x".repeat(1023) + "\\n";
         for (let i = 0; i < 8192; i++) out.write(line);
         process.stdout.write("alive " + out.dropped + "\\n");
         process.stdin.once("data", async () => { await out.flush(5000); process.exit(0); });`,
        channel.stdio,
      );
      const [first] = (await once(child.stdout!, "data")) as [Buffer];
      const dropped = Number(/^alive (\d+)$/m.exec(String(first))![1]);
      assert.ok(dropped > 7000, `${dropped} lines dropped`);
      const reader = channel.read?.() ?? child.stderr!;
      const ended = once(reader, "data").then(() => undefined);
      let text = "";
      reader.on("data", (chunk) => {
        text += String(chunk);
        if (/^dropped/m.test(text)) reader.destroy();
      });
      child.stdin!.write("go\n");
      await ended;
      await once(child, "exit");
      if (!reader.destroyed) await once(reader, "close");
      channel.close();
      const lines = text.trimEnd().split("\n");
      assert.equal(lines.at(-1), `dropped ${dropped}`);
      assert.equal(lines.length - 1 + dropped, 8192);
      for (const line of lines.slice(0, -1)) assert.equal(line.length, 1023);
    });

  it("passes every line to an active reader, in order", async () => {
    const child = run(`
      const out = writerTo(1, { maxHeldBytes: 64 * 1024 * 1024 });
      for (let i = 0; i < 20000; i++) out.write("line " + i + "\\n");
      await out.flush(20000);
    `);
    const lines = (await collect(child.stdout!)).trimEnd().split("\n");
    assert.equal(lines.length, 20_000);
    for (const [i, line] of lines.entries()) assert.equal(line, `line ${i}`);
  });

  it("exits cleanly after the reader has closed the pipe", async () => {
    const child = run(`
      const out = writerTo(1);
      process.stdin.once("data", () => { for (let i = 0; i < 1000; i++) out.write("line\\n"); process.exit(0); });
    `);
    child.stdout!.destroy();
    child.stdin!.write("go\n");
    const [code] = (await once(child, "exit")) as [number];
    assert.equal(code, 0);
  });

  it("appends to a file at the descriptor's position", () => {
    const folder = mkdtempSync(join(tmpdir(), "tollgate-log-"));
    const path = join(folder, "log");
    const descriptor = openSync(path, "w");
    try {
      const writer = writerTo(descriptor);
      writer.write("one\n");
      writer.write("two\n");
      assert.equal(readFileSync(path, "utf8"), "one\ntwo\n");
      assert.equal(writer.dropped, 0);
    } finally {
      closeSync(descriptor);
      rmSync(folder, { recursive: true });
    }
  });
});

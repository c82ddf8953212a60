import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { authorityOf, type Client, samples, type Target } from "../client.ts";
import { encodeNote } from "../schema.ts";
import { bodies, frame, paths } from "./raw.ts";
import { startTool, succeed, versionOf } from "./tool.ts";

/** The options of h2load for a target. Its manual page documents them. */
function way(target: Target, path: string): string[] {
  if (target.path !== "") return [`--base-uri=unix:${target.path}`, `http://localhost${path}`];
  return [`${target.transport === "TLS with ALPN" ? "https" : "http"}://${authorityOf(target)}${path}`];
}

export function h2load(command: string): Client {
  async function withArguments<T>(body: Buffer, use: (args: string[]) => Promise<T>): Promise<T> {
    const folder = await mkdtemp(join(tmpdir(), "grpc-wire-h2load-"));
    try {
      const file = join(folder, "body");
      await writeFile(file, body);
      return await use(["-d", file, "-H", "content-type: application/grpc", "-H", "te: trailers"]);
    } finally {
      await rm(folder, { recursive: true });
    }
  }

  /** Rejects unless all responses had status 200 and `bytes` bytes of content in total. */
  async function load(
    target: Target,
    path: string,
    body: Buffer,
    bytes: number,
    options: readonly string[] = ["-n", "1"],
  ): Promise<undefined> {
    const total = options[options.indexOf("-n") + 1];
    const { stdout } = await withArguments(body, (args) =>
      succeed(command, [...args, ...options, ...way(target, path)]),
    );
    const report = stdout.toString();
    assert.match(report, new RegExp(`status codes: ${total} 2xx, 0 3xx, 0 4xx, 0 5xx`), report);
    // "1.20KB (1230) headers (space savings 0.00%), 16.50KB (16900) data"
    assert.equal(Number(/\((\d+)\) data/.exec(report)?.[1]), bytes, report);
  }

  const blind = "shows neither trailers nor bodies";
  return {
    name: "h2load",
    version: () => versionOf(command, "--version"),
    unable: {},
    trials: {
      unary: (target) => load(target, paths.echo, bodies.count(7), bodies.count(7).length),
      concurrent: (target) => {
        const bytes = 2000 * bodies.count(7).length;
        return load(target, paths.echo, bodies.count(7), bytes, ["-n", "2000", "-c", "4", "-m", "50"]);
      },
      deadline: async (target) => {
        const text = target.control.unique();
        const timeout = ["-n", "1", "-H", `grpc-timeout: ${samples.deadlineMs}m`];
        await load(target, paths.wait, bodies.wait(text), 0, timeout);
        await target.control.gone(text);
        return "does not show the status";
      },
      cancel: async (target) => {
        const text = target.control.unique();
        await withArguments(bodies.wait(text), async (args) => {
          const call = startTool(command, [...args, ...way(target, paths.wait)]);
          await target.control.arrived(text);
          call.end("SIGTERM");
          await call.done;
        });
        await target.control.gone(text);
        return "by closing its connection";
      },
      "4 MB both ways": (target) => load(target, paths.echo, bodies.large, bodies.large.length),
      "5 MB is RESOURCE_EXHAUSTED": blind,
      "gzip both ways": blind,
      "server streaming": (target) => {
        const { count, payload } = samples.streamed;
        const bytes = Array.from({ length: count }, (_, index) =>
          frame(encodeNote({ payload, count: index })),
        );
        const body = frame(encodeNote(samples.streamed));
        return load(target, "/conformance.Probe/Count", body, Buffer.concat(bytes).length);
      },
      "client streaming": (target) => {
        const { count, text } = samples.summed;
        return load(target, "/conformance.Probe/Sum", bodies.sum, frame(encodeNote({ count, text })).length);
      },
      "bidirectional streaming": (target) =>
        load(target, "/conformance.Probe/Talk", bodies.talk, bodies.talk.length),
      "metadata, -bin too": blind,
      "status with Unicode": blind,
      "health Check": (target) => load(target, paths.check, bodies.health(""), 7),
      "health Watch": "waits for the end of a stream that has none",
      reflection: blind,
    },
  };
}

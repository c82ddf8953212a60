import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { authorityOf, type Client, type Target } from "../client.ts";
import { bodies, messagesOf, type Post, paths, rawTrials } from "./raw.ts";
import { startTool, succeed, versionOf } from "./tool.ts";

function urlOf(target: Target, path: string): string {
  return `${target.transport === "TLS with ALPN" ? "https" : "http"}://${authorityOf(target)}${path}`;
}

const grpcHeaders = ["-H", "content-type: application/grpc", "-H", "te: trailers"];

export function nghttp(command: string): Client {
  /** Runs `use` with the arguments of a POST whose body lies in a file, as nghttp wants it. */
  async function withBody<T>(body: Buffer, use: (args: string[]) => Promise<T>): Promise<T> {
    const folder = await mkdtemp(join(tmpdir(), "grpc-wire-nghttp-"));
    try {
      const file = join(folder, "body");
      await writeFile(file, body);
      return await use(["--no-dep", "-d", file, ...grpcHeaders]);
    } finally {
      await rm(folder, { recursive: true });
    }
  }

  // Its report of frames and the body share its standard output: two calls, one for each.
  const post: Post = (target, path, body, headers = []) =>
    withBody(body, async (args) => {
      const extra = headers.flatMap(([name, value]) => ["-H", `${name}: ${value}`]);
      const url = urlOf(target, path);
      const report = (await succeed(command, [...args, ...extra, "-nv", url])).stdout.toString("latin1");
      const received = report.matchAll(/recv \(stream_id=\d+(?:, sensitive)?\) (:?[^:\n]+): (.*)/g);
      const fields = new Map([...received].map(([, name, value]) => [name!, value!]));
      const hasBody = path !== paths.wait;
      const answer = hasBody ? (await succeed(command, [...args, ...extra, url])).stdout : Buffer.alloc(0);
      return { fields, body: answer };
    });

  return {
    name: "nghttp",
    version: () => versionOf(command, "--version"),
    unable: { "unix socket": "has no option for it" },
    trials: {
      ...rawTrials(post),
      concurrent: (target) =>
        withBody(bodies.count(7), async (args) => {
          const { stdout } = await succeed(command, [...args, "-m", "100", urlOf(target, paths.echo)]);
          assert.equal(messagesOf(stdout).length, 100);
          return undefined;
        }),
      cancel: async (target) => {
        const text = target.control.unique();
        await withBody(bodies.wait(text), async (args) => {
          const call = startTool(command, [...args, urlOf(target, paths.wait)]);
          await target.control.arrived(text);
          call.end("SIGTERM");
          await call.done;
        });
        await target.control.gone(text);
        return "by closing its connection";
      },
      "health Watch": "shows what it received when the stream ends",
    },
  };
}

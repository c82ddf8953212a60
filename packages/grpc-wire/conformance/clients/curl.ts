import assert from "node:assert/strict";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { authorityOf, type Client, type Target } from "../client.ts";
import { encodeNote } from "../schema.ts";
import { bodies, frame, healthOf, messagesOf, type Post, paths, rawTrials } from "./raw.ts";
import { startTool, succeed, versionOf } from "./tool.ts";

const grpcHeaders = ["-H", "content-type: application/grpc", "-H", "te: trailers"];

/** Options that choose the transport, and the URL. */
function way(target: Target, path: string): string[] {
  if (target.transport === "TLS with ALPN")
    return ["--http2", "--cacert", target.caFile, `https://${authorityOf(target)}${path}`];
  if (target.path !== "")
    return ["--http2-prior-knowledge", "--unix-socket", target.path, `http://localhost${path}`];
  return ["--http2-prior-knowledge", `http://${authorityOf(target)}${path}`];
}

async function inFolder<T>(run: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), "grpc-wire-curl-"));
  try {
    return await run(folder);
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** Header lines, trailers among them; the status line as `:status`. */
function parseFields(text: string): Map<string, string> {
  const fields = new Map<string, string>();
  for (const line of text.split("\r\n")) {
    const colon = line.indexOf(": ");
    if (line.startsWith("HTTP/2 ")) fields.set(":status", line.slice(7).trim());
    else if (colon > 0) fields.set(line.slice(0, colon).toLowerCase(), line.slice(colon + 2));
  }
  return fields;
}

export function curl(command: string): Client {
  const post: Post = (target, path, body, headers = []) =>
    inFolder(async (folder) => {
      const head = join(folder, "head");
      const extra = headers.flatMap(([name, value]) => ["-H", `${name}: ${value}`]);
      const args = ["-sS", "-D", head, "--data-binary", "@-", ...grpcHeaders, ...extra, ...way(target, path)];
      const { stdout } = await succeed(command, args, body);
      return { fields: parseFields(await readFile(head, "latin1")), body: stdout };
    });

  /** Calls on one connection, each with a body of its own. */
  const concurrently = (target: Target, total: number) =>
    inFolder(async (folder) => {
      const args = ["-sS", "--parallel", "--parallel-max", "100"];
      for (let index = 0; index < total; index++) {
        const file = join(folder, String(index));
        await writeFile(file, bodies.count(index));
        if (index > 0) args.push("--next", "-sS");
        args.push(
          ...grpcHeaders,
          "--data-binary",
          `@${file}`,
          "-o",
          `${file}.out`,
          ...way(target, paths.echo),
        );
      }
      await succeed(command, args);
      for (let index = 0; index < total; index++)
        assert.deepEqual(await readFile(join(folder, `${index}.out`)), bodies.count(index));
    });

  return {
    name: "curl",
    version: () => versionOf(command, "--version"),
    unable: {},
    trials: {
      ...rawTrials(post),
      concurrent: async (target) => {
        if (target.transport === "TLS with ALPN") await concurrently(target, 100);
        else {
          // curl 7 joins no connection that was made with prior knowledge: "Error in the HTTP2 framing layer",
          // with node:http2 too.
          const calls = Array.from({ length: 20 }, (_, index) =>
            post(target, paths.echo, bodies.count(index)),
          );
          const answers = await Promise.all(calls);
          answers.forEach(({ body }, index) => {
            assert.deepEqual(body, bodies.count(index));
          });
        }
        return "on one connection over TLS, otherwise on one each";
      },
      "5 MB is RESOURCE_EXHAUSTED": async (target) => {
        const { fields } = await post(target, paths.echo, bodies.tooLargeZipped, [["grpc-encoding", "gzip"]]);
        assert.equal(fields.get("grpc-status"), "8");
        return "gzipped: it shows no answer that comes before its body is sent";
      },
      cancel: async (target) => {
        const text = target.control.unique();
        const args = ["-sS", "--data-binary", "@-", ...grpcHeaders, ...way(target, paths.wait)];
        const call = startTool(command, args, frame(encodeNote({ text })));
        await target.control.arrived(text);
        call.end("SIGTERM");
        await call.done;
        await target.control.gone(text);
        return "by closing its connection";
      },
      "health Watch": async (target) => {
        const service = target.control.unique();
        const args = ["-sSN", "--data-binary", "@-", ...grpcHeaders, ...way(target, paths.watch)];
        const watch = startTool(command, args, bodies.health(service));
        await watch.until((seen) => messagesOf(seen).length === 1);
        await target.control.setHealth(service, 1);
        await watch.until((seen) => messagesOf(seen).length === 2);
        watch.end("SIGTERM");
        const { stdout } = await watch.done;
        assert.deepEqual(messagesOf(stdout).map(healthOf), [3, 1]);
        return undefined;
      },
    },
  };
}

import { join } from "node:path";
import { assertZipped, type Case, type Client, samples, type Target } from "../client.ts";
import { succeed, versionOf } from "./tool.ts";

const script = join(import.meta.dirname, "grpcio.py");

/** Python's grpcio (the C core), driven by a script: `grpcio.py CASE ADDRESS CA PARAMETERS`. */
export function grpcio(python: string): Client {
  async function run(name: Case, target: Target, text = target.control.unique()): Promise<undefined> {
    const address = target.path === "" ? `localhost:${target.port}` : `unix:${target.path}`;
    const ca = target.transport === "TLS with ALPN" ? target.caFile : "";
    const parameters = {
      text,
      greeting: samples.greeting,
      failure: samples.failure,
      word: samples.word,
      raw: samples.raw.toString("hex"),
      large: samples.large.length,
      tooLarge: samples.tooLarge.length,
      zippable: samples.zippable.length,
      streamed: { count: samples.streamed.count, bytes: samples.streamed.payload.length },
      summed: {
        count: samples.summed.count,
        bytes: samples.summed.payload.length,
        text: samples.summed.text,
      },
      deadlineMs: samples.deadlineMs,
      protoFolder: join(import.meta.dirname, "..", "proto"),
    };
    await succeed(python, [script, name, address, ca, JSON.stringify(parameters)]);
  }
  const plainly = (name: Case) => (target: Target) => run(name, target);
  const untilGone = (name: Case) => async (target: Target) => {
    const text = target.control.unique();
    await run(name, target, text);
    await target.control.gone(text);
    return undefined;
  };
  return {
    name: "grpcio",
    version: () => versionOf(python, "-c", "import grpc; print(grpc.__version__)"),
    unable: {},
    trials: {
      unary: plainly("unary"),
      concurrent: plainly("concurrent"),
      deadline: untilGone("deadline"),
      cancel: untilGone("cancel"),
      "4 MB both ways": plainly("4 MB both ways"),
      "5 MB is RESOURCE_EXHAUSTED": plainly("5 MB is RESOURCE_EXHAUSTED"),
      "gzip both ways": (target) =>
        target.control.counted(target, async (counted, traffic) => {
          await run("gzip both ways", counted);
          assertZipped(traffic);
          return undefined;
        }),
      "server streaming": plainly("server streaming"),
      "client streaming": plainly("client streaming"),
      "bidirectional streaming": plainly("bidirectional streaming"),
      "metadata, -bin too": plainly("metadata, -bin too"),
      "status with Unicode": plainly("status with Unicode"),
      "health Check": plainly("health Check"),
      "health Watch": plainly("health Watch"),
      reflection: plainly("reflection"),
    },
  };
}

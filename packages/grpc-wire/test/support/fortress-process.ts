/** The attacked server: a process of its own, so that its memory is only its own. Asked over IPC. */
import { GrpcServer } from "../../src/index.ts";

const server = new GrpcServer(JSON.parse(process.argv[2]!))
  .unary("/a.A/Echo", (message) => message)
  .unary("/a.A/Large", () => new Uint8Array(100_000))
  .unary("/a.A/Never", (_message, call) => {
    return new Promise((_resolve, reject) =>
      call.signal.addEventListener("abort", () => reject(new Error("gone"))),
    );
  })
  .bidiStreaming("/a.A/Each", async function* (messages) {
    for await (const message of messages) yield message;
  });
const bound = await server.listen({ port: 0 });

process.on("message", async () => {
  // With a turn between: the memory of dropped buffers is freed after the first.
  globalThis.gc!();
  await new Promise((resolve) => setImmediate(resolve));
  // A slow machine may have answered many calls in that turn. The third one frees the buffers that the second one found.
  globalThis.gc!();
  globalThis.gc!();
  const { heapUsed, external } = process.memoryUsage();
  process.send!({ ...server.counts(), heldBytes: heapUsed + external });
});
process.on("disconnect", () => process.exit());
process.send!(bound);

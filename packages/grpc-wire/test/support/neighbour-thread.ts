/**
 * A well-behaved caller beside an attack, in a thread of its own, so that what the attacker's side does to its own
 * event loop is not taken for the server's doing. Calls one after the other; told "start" and "stop".
 */
import { parentPort, workerData } from "node:worker_threads";
import { frame, RawClient, type, uint32 } from "./raw-client.ts";

const client = await RawClient.open({ port: workerData as number, host: "127.0.0.1" });
// Window enough for all its answers.
client.send(frame(type.windowUpdate, 0, 0, uint32(0x7fff0000 - 0xffff)));

/** Calls that are made at least, however short the attack. */
const LEAST = 3;
let id = 1;
let running = false;

async function run(): Promise<void> {
  let calls = 0;
  let worstMs = 0;
  while (running || calls < LEAST) {
    const started = performance.now();
    client.frames.length = 0;
    client.send(client.call(id, "/a.A/Echo", "neighbour"));
    const { messages } = await client.answer(id);
    if (String(messages[0]) !== "neighbour") throw new Error(`the neighbour's call ${id} went wrong`);
    id += 2;
    worstMs = Math.max(worstMs, performance.now() - started);
    calls += 1;
    await new Promise((resolve) => setTimeout(resolve, 4));
  }
  parentPort!.postMessage({ calls, worstMs });
}

parentPort!.on("message", (order: "start" | "stop") => {
  running = order === "start";
  if (running) void run();
});
parentPort!.postMessage("ready");

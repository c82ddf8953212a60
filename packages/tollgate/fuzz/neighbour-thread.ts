/**
 * A correct client during a storm. It runs in its own thread, so that the storm's work does not delay its clock. It
 * calls until it gets a message, then reports.
 */
import { parentPort, workerData } from "node:worker_threads";
import { frame, RawClient, type, uint32 } from "../../grpc-wire/test/support/raw-client.ts";
import { encodeRequest } from "../src/protocol/encode-request.ts";
import { SHOULD_RATE_LIMIT } from "../src/protocol/method.ts";
import { descriptor, request } from "../test/grpc-caller.ts";

/** The neighbour's results since the last report. */
export interface Service {
  readonly calls: number;
  readonly worstMs: number;
  readonly fault: string | undefined;
}

/** Calls of one client. A client keeps all received frames, so a new one replaces it to bound the memory. */
const CALLS_PER_CONNECTION = 2000;

async function open(): Promise<RawClient> {
  const opened = await RawClient.open(workerData);
  opened.send(frame(type.windowUpdate, 0, 0, uint32(0x7fff0000 - 0xffff)));
  return opened;
}

let client = await open();
const message = encodeRequest(request("fuzz", descriptor("neighbour=n")));

let id = 1;
let service: Service = { calls: 0, worstMs: 0, fault: undefined };

async function callOnce(): Promise<void> {
  const begun = performance.now();
  client.frames.length = 0;
  client.send(client.call(id, SHOULD_RATE_LIMIT, message));
  const { fields } = await client.answer(id);
  const status = fields.get("grpc-status");
  id += 2;
  service = {
    calls: service.calls + 1,
    worstMs: Math.max(service.worstMs, performance.now() - begun),
    fault: service.fault ?? (status === "0" ? undefined : `the neighbour's call got status ${status}`),
  };
}

parentPort!.on("message", () => {
  parentPort!.postMessage(service);
  service = { calls: 0, worstMs: 0, fault: undefined };
});
for (;;) {
  try {
    if (id > 2 * CALLS_PER_CONNECTION) {
      client.close();
      client = await open();
      id = 1;
    }
    await callOnce();
  } catch (error) {
    service = { ...service, fault: `the neighbour's call failed: ${error}` };
    break;
  }
  await new Promise((resolve) => setTimeout(resolve, 2));
}

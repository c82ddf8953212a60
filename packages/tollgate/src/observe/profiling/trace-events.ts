import type { NodeTracing } from "node:inspector";
import type { Session } from "node:inspector/promises";

/** Maximum number of events, of some hundred bytes each. The file states how many later events it leaves out. */
const MAX_EVENTS = 200_000;

const categories = ["node", "node.environment", "node.perf", "v8", "disabled-by-default-v8.cpu_profiler"];

/** Records Chrome's trace-event format (the JSON object form), which Perfetto and chrome://tracing read. */
export async function recordTrace(session: Session, wait: () => Promise<void>): Promise<Buffer> {
  const events: object[] = [];
  let left = 0;
  session.on(
    "NodeTracing.dataCollected",
    ({ params }: { params: NodeTracing.DataCollectedEventDataType }) => {
      for (const event of params.value) {
        if (events.length < MAX_EVENTS) events.push(event);
        else left++;
      }
    },
  );
  const complete = new Promise<void>((resolve) => {
    session.once("NodeTracing.tracingComplete", () => resolve());
  });
  await session.post("NodeTracing.start", { traceConfig: { includedCategories: categories } });
  await wait();
  await session.post("NodeTracing.stop");
  await complete;
  return Buffer.from(
    JSON.stringify({
      traceEvents: events,
      displayTimeUnit: "ms",
      otherData: { eventsLeftOut: left },
    }),
  );
}

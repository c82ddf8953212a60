import { api } from "./api.ts";

const FIRST_WAIT = 500;
const LONGEST_WAIT = 10_000;

type Events = Awaited<ReturnType<typeof api.events.GET.events>>;
export type Live = Events extends AsyncIterable<{ readonly data: infer Data }> ? Data : never;

/** Follows the changes of the board indefinitely. After a break it continues where it was. */
export async function follow(onChange: (change: Live) => Promise<void>, onState: (isLive: boolean) => void) {
  let last: string | undefined;
  for (let wait = FIRST_WAIT; ; wait = Math.min(wait * 2, LONGEST_WAIT)) {
    try {
      const headers: Record<string, string> = last === undefined ? {} : { "last-event-id": last };
      const events = await api.events.GET.with({ headers }).events();
      onState(true);
      wait = FIRST_WAIT;
      for await (const { data, id } of events) {
        last = id ?? last;
        await onChange(data);
      }
    } catch {
      // The connection broke. The next one gets what is missing.
    }
    onState(false);
    await new Promise((resolve) => setTimeout(resolve, wait));
  }
}

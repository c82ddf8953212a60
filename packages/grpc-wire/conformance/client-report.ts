/** Runs the cases of a client over all transports at the same time, and collects the results. */

import { scaled } from "../../../tools/time-scale.ts";
import { type Case, type Client, cases, type Transport, transports, Unable } from "./client.ts";
import type { TestBed } from "./test-bed.ts";

export type Verdict =
  | { readonly kind: "ok"; readonly remark?: string }
  /** The client has no way to do it. */
  | { readonly kind: "cannot"; readonly why: string }
  | { readonly kind: "failed"; readonly why: string };

export interface ClientReport {
  readonly client: string;
  readonly version: string;
  readonly verdicts: ReadonlyMap<Case, ReadonlyMap<Transport, Verdict>>;
}

/** Longer than the time-out of any client. */
const LIMIT_MS = scaled(40_000);

export async function testClient(
  bed: TestBed,
  client: Client,
  tell: (text: string) => void = () => {},
): Promise<ClientReport> {
  const verdicts = new Map<Case, Map<Transport, Verdict>>();
  for (const name of cases) {
    const row = await Promise.all(
      transports.map(async (transport) => {
        const verdict = await verdictOf(bed, client, name, transport);
        if (verdict.kind === "failed") tell(`${client.name}: ${name} over ${transport}: ${verdict.why}`);
        return [transport, verdict] as const;
      }),
    );
    verdicts.set(name, new Map(row));
  }
  return { client: client.name, version: await client.version(), verdicts };
}

async function verdictOf(bed: TestBed, client: Client, name: Case, transport: Transport): Promise<Verdict> {
  const unable = client.unable[transport];
  if (unable !== undefined) return { kind: "cannot", why: unable };
  const trial = client.trials[name];
  if (typeof trial === "string") return { kind: "cannot", why: trial };
  try {
    const remark = await withinLimit(trial(bed.target(transport)));
    const complaints = bed.complaints();
    if (complaints !== "") return { kind: "failed", why: complaints };
    return remark === undefined ? { kind: "ok" } : { kind: "ok", remark };
  } catch (error) {
    if (error instanceof Unable) return { kind: "cannot", why: error.message };
    return {
      kind: "failed",
      why: `${error instanceof Error ? error.message : error}\n${bed.complaints()}`.trim(),
    };
  }
}

async function withinLimit<T>(work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`not done after ${LIMIT_MS / 1000} s`)), LIMIT_MS);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

export function hasFailed({ verdicts }: ClientReport): boolean {
  return [...verdicts.values()].some((row) => [...row.values()].some(({ kind }) => kind === "failed"));
}

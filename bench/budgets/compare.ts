import { interleaved, median } from "../support/figures.ts";
import { h2load, type Measured, type Shape } from "../support/h2load.ts";
import { onPeer, type Peer, type StartPeer } from "../support/peers.ts";
import type { Effort } from "./budget.ts";

/** A server and its load. */
export interface Contender {
  readonly start: StartPeer;
  /** See `framedFile`. */
  readonly body: string;
  readonly shape?: Omit<Shape, "calls">;
  readonly headers?: readonly string[];
  /** Slow servers get a third of the calls. */
  readonly isSlow?: boolean;
}

/** Measures the contenders and returns medians. Each round starts a new server and warms it up. */
export async function compare(
  contenders: Readonly<Record<string, Contender>>,
  shape: Omit<Shape, "calls">,
  { rounds, calls }: Effort,
): Promise<Map<string, Measured>> {
  return medians(contenders, rounds, ({ server, url }, contender) => {
    const { body, headers, isSlow = false } = contender;
    const load = { ...shape, ...contender.shape, calls: isSlow ? Math.ceil(calls / 3) : calls };
    h2load(server.pid, url, body, { ...load, calls: Math.ceil(load.calls / 2) }, headers);
    return h2load(server.pid, url, body, load, headers);
  });
}

/** Runs `measure` for the contenders in turn, round by round, and returns the median of each figure. */
export async function medians<C extends { readonly start: StartPeer }, M extends object>(
  contenders: Readonly<Record<string, C>>,
  rounds: number,
  measure: (peer: Peer, contender: C) => M | Promise<M>,
): Promise<Map<string, M>> {
  const all = await interleaved(Object.keys(contenders), rounds, (name) => {
    const contender = contenders[name]!;
    return onPeer(contender.start, (peer) => measure(peer, contender));
  });
  return new Map([...all].map(([name, measured]) => [name, medianOf(measured)]));
}

function medianOf<M extends object>(measured: readonly M[]): M {
  const entries = Object.keys(measured[0]!).map((key) => [
    key,
    median(measured.map((one) => Number(one[key as keyof M]))),
  ]);
  return Object.fromEntries(entries) as M;
}

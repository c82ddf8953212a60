import type { HeapProfiler, Profiler } from "node:inspector";

/** A function with the engine's name for it. Lines count from 1; 0 if the function has no line. */
export interface Frame {
  readonly functionName: string;
  readonly file: string;
  readonly line: number;
}

/** The measurements of one stack. */
export interface StackSample {
  /** The frames from the running function to the outermost caller. */
  readonly stack: readonly Frame[];
  /** The values in the order of the profile's value types. */
  readonly values: readonly number[];
}

function frameOf(callFrame: { functionName: string; url: string; lineNumber: number }): Frame {
  return {
    functionName: callFrame.functionName === "" ? "(anonymous)" : callFrame.functionName,
    file: callFrame.url,
    line: callFrame.lineNumber + 1,
  };
}

/**
 * Returns the samples and nanoseconds of each stack.
 * @param idle whether idle time counts: true for a wall profile, false for a CPU profile
 */
export function cpuSamples(profile: Profiler.Profile, idle: boolean): StackSample[] {
  const parents = new Map<number, number>();
  const nodes = new Map(profile.nodes.map((node) => [node.id, node]));
  for (const node of profile.nodes) for (const child of node.children ?? []) parents.set(child, node.id);
  const measured = new Map<number, [count: number, nanoseconds: number]>();
  const { samples = [], timeDeltas = [] } = profile;
  for (const [i, id] of samples.entries()) {
    const values = measured.get(id) ?? [0, 0];
    values[0]++;
    // A delta belongs to the sample before it: that stack ran until this sample was taken.
    values[1] += Math.max(timeDeltas[i + 1] ?? 0, 0) * 1000;
    measured.set(id, values);
  }
  const stacks: StackSample[] = [];
  for (const [id, values] of measured) {
    if (!idle && nodes.get(id)!.callFrame.functionName === "(idle)") continue;
    const stack: Frame[] = [];
    for (let at: number | undefined = id; at !== undefined; at = parents.get(at)) {
      const { callFrame } = nodes.get(at)!;
      if (callFrame.functionName !== "(root)") stack.push(frameOf(callFrame));
    }
    if (stack.length > 0) stacks.push({ stack, values });
  }
  return stacks;
}

/** The engine's heap profile. Node's types lack some of its fields. */
interface SampledNode extends HeapProfiler.SamplingHeapProfileNode {
  readonly id: number;
  readonly children: SampledNode[];
}
interface SampledHeap extends HeapProfiler.SamplingHeapProfile {
  readonly head: SampledNode;
  readonly samples: readonly { readonly nodeId: number }[];
}

/** Returns the samples and live bytes that each stack allocated. */
export function heapSamples(sampled: HeapProfiler.SamplingHeapProfile): StackSample[] {
  const profile = sampled as SampledHeap;
  const stacks: StackSample[] = [];
  const counts = new Map<number, number>();
  for (const { nodeId } of profile.samples) counts.set(nodeId, (counts.get(nodeId) ?? 0) + 1);
  const pending: [node: SampledNode, above: readonly Frame[]][] = [[profile.head, []]];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const [node, above] = next;
    const stack = node.callFrame.functionName === "(root)" ? above : [frameOf(node.callFrame), ...above];
    if (node.selfSize > 0 && stack.length > 0)
      stacks.push({ stack, values: [counts.get(node.id) ?? 0, node.selfSize] });
    for (const child of node.children) pending.push([child, stack]);
  }
  return stacks;
}

/** Finds import circles: the strongly connected parts of a directed graph (Tarjan's algorithm). */

/** Node -> the nodes that it imports. */
export type ImportGraph = ReadonlyMap<string, ReadonlySet<string>>;

/** Each group of nodes that reach each other, sorted. An acyclic graph has no group. */
export function findCircles(graph: ImportGraph): string[][] {
  const order = new Map<string, number>();
  const open: string[] = [];
  const isOpen = new Set<string>();
  const circles: string[][] = [];

  function visit(node: string): number {
    const index = order.size;
    order.set(node, index);
    let low = index;
    open.push(node);
    isOpen.add(node);
    for (const next of graph.get(node) ?? []) {
      if (!order.has(next)) low = Math.min(low, visit(next));
      else if (isOpen.has(next)) low = Math.min(low, order.get(next) ?? low);
    }
    if (low === index) {
      const group = open.splice(open.indexOf(node));
      for (const member of group) isOpen.delete(member);
      if (group.length > 1) circles.push(group.sort());
    }
    return low;
  }

  for (const node of graph.keys()) if (!order.has(node)) visit(node);
  return circles.sort((a, b) => (a.join() < b.join() ? -1 : 1));
}

import { formatLocation } from "./diagnostic.ts";
import type { DraftDescriptor, DraftLimit, DraftReplaces } from "./draft.ts";
import { nearest } from "./nearest.ts";
import type { Report } from "./report.ts";
import type { Location } from "./rule.ts";

/** The names and replacements of one domain. Checks them: unknown names, duplicate names, cycles. */
export class Names {
  readonly #names = new Map<string, Location>();
  readonly #replaces: DraftReplaces[] = [];
  /** For each name, the names that the limits of this name replace. */
  readonly #edges = new Map<string, { readonly to: string; readonly at: Location }[]>();

  add({ limit, descriptors }: DraftDescriptor, report: Report): void {
    if (limit !== undefined) this.#addLimit(limit, report);
    for (const descriptor of descriptors) this.add(descriptor, report);
  }

  #addLimit(limit: DraftLimit, report: Report): void {
    this.#replaces.push(...limit.replaces);
    if (limit.name === "") return;
    const first = this.#names.get(limit.name);
    if (first === undefined) this.#names.set(limit.name, limit.nameAt);
    else {
      const message = `duplicate name "${limit.name}" (first in ${formatLocation(first)}): a rule that replaces it replaces both limits`;
      report.add("duplicate-name", limit.nameAt, message);
    }
    const targets = this.#edges.get(limit.name) ?? [];
    for (const { name, at } of limit.replaces)
      if (name && name !== limit.name) targets.push({ to: name, at });
    this.#edges.set(limit.name, targets);
  }

  /** @param domain its name */
  finish(domain: string, report: Report): void {
    if (report.unread.size === 0) {
      const known = [...this.#names.keys()];
      for (const { name, at } of this.#replaces) {
        if (!name || this.#names.has(name)) continue;
        const near = known.length > 1000 ? undefined : nearest(name, known);
        const right = near === undefined ? "" : `: did you mean "${near}"?`;
        const message = `no rule of the domain "${domain}" has the name "${name}"${right}`;
        report.add("replaces-unknown-name", at, message);
      }
    }
    reportCycles(this.#edges, report);
  }
}

type Edges = ReadonlyMap<string, readonly { readonly to: string; readonly at: Location }[]>;

/** Searches depth first without recursion, because a chain of replacements may be as long as the file. */
function reportCycles(edges: Edges, report: Report): void {
  const done = new Set<string>();
  for (const start of edges.keys()) {
    if (done.has(start)) continue;
    const path = [{ name: start, next: 0 }];
    const onPath = new Set([start]);
    for (let step = path.at(-1); step !== undefined; step = path.at(-1)) {
      const edge = edges.get(step.name)?.[step.next++];
      if (edge === undefined) {
        path.pop();
        onPath.delete(step.name);
        done.add(step.name);
      } else if (onPath.has(edge.to)) {
        const names = path.map(({ name }) => name);
        const cycle = [...names.slice(names.indexOf(edge.to)), edge.to].map((name) => `"${name}"`);
        const message = `limits replace each other in a circle: ${cycleText(cycle)}`;
        report.add("replaces-cycle", edge.at, message);
      } else if (!done.has(edge.to)) {
        path.push({ name: edge.to, next: 0 });
        onPath.add(edge.to);
      }
    }
  }
}

function cycleText(cycle: readonly string[]): string {
  const shown = cycle.length > 8 ? [...cycle.slice(0, 4), "...", ...cycle.slice(-3)] : cycle;
  return shown.join(" replaces ");
}

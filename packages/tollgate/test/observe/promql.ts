import type { Tree } from "@lezer/common";
import { parser } from "@prometheus-io/lezer-promql";

/** One selector of a query: `name{label=~"value"}`. */
export interface Selector {
  /** Matches the names of metrics; exact for a plain name. */
  readonly name: RegExp;
  /** The selector's text in the query. */
  readonly text: string;
  /** Labels of the selector, without the name. */
  readonly labels: readonly string[];
}

/** Replaces Grafana's variables by valid PromQL. */
function withoutVariables(query: string): string {
  return query.replace(/\[\$__\w+\]/g, "[5m]").replace(/"\$\w+"/g, '".*"');
}

/**
 * Finds the selectors of a query with Prometheus's own grammar.
 * @throws if the query is not valid PromQL
 */
export function selectorsOf(query: string): Selector[] {
  const text = withoutVariables(query);
  const tree: Tree = parser.parse(text);
  const selectors: Selector[] = [];
  tree.iterate({
    enter: (node) => {
      if (node.type.isError) throw new Error(`not PromQL at ${node.from}: ${text}`);
      if (node.name !== "VectorSelector") return;
      const written = text.slice(node.from, node.to);
      const match = /^([a-zA-Z_:][a-zA-Z0-9_:]*)?\s*(?:\{(.*)\})?$/s.exec(written);
      if (match === null) throw new Error(`a selector of no known form: ${written}`);
      const matchers = [...(match[2] ?? "").matchAll(/(\w+)\s*(=~|!~|!=|=)\s*"([^"]*)"/g)];
      const byName = matchers.find(([, label]) => label === "__name__");
      selectors.push({
        text: written,
        name: new RegExp(`^(?:${match[1] ?? byName?.[3] ?? ""})$`),
        labels: matchers.map(([, label]) => label!).filter((label) => label !== "__name__"),
      });
    },
  });
  return selectors;
}

/** Returns the labels that a query groups by. */
export function groupingOf(query: string): string[] {
  return [...query.matchAll(/\bby\s*\(([^)]*)\)/g)].flatMap(([, list]) =>
    list!.split(",").map((label) => label.trim()),
  );
}

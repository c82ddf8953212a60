import { type CatalogueEntry, catalogue } from "./catalogue.ts";

const BEGIN =
  "<!-- The catalogue: written by `npm run manual -w packages/tollgate` from packages/tollgate/src/observe/catalogue.ts. -->";
const END = "<!-- End of the catalogue. -->";

/** The anchor of a statistic in the manual: its metric, without the marks of variable parts. */
export function anchorOf({ metric }: CatalogueEntry): string {
  return metric.replaceAll(/[<>]/g, "");
}

/** Renders the manual's table of statistics. */
export function catalogueTable(): string {
  const rows = catalogue.map((entry) => {
    const { name, kind, metric, labels, meaning } = entry;
    const shown = labels.length === 0 ? metric : `${metric}{${labels.join(",")}}`;
    return `| <a id="${anchorOf(entry)}"></a>\`${name}\` | ${kind} | \`${shown}\` | ${meaning} |`;
  });
  return ["| Statistic | Kind | Metric | Meaning |", "|---|---|---|---|", ...rows].join("\n");
}

/**
 * Replaces the catalogue in the text of `docs/observability.md`.
 * @throws if the text lacks the begin and end markers
 */
export function withCatalogue(page: string): string {
  const begin = page.indexOf(BEGIN);
  const end = page.indexOf(END);
  if (begin === -1 || end < begin) throw new Error(`the page must contain the lines ${BEGIN} and ${END}`);
  return `${page.slice(0, begin)}${BEGIN}\n\n${catalogueTable()}\n\n${page.slice(end)}`;
}

/** The verdicts as tables: for a terminal, and for a Markdown file. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { cases, type Transport, transports } from "./client.ts";
import type { ClientReport, Verdict } from "./client-report.ts";
import type { H2specResult } from "./h2spec.ts";

const marks = ["<!-- conformance: begin -->", "<!-- conformance: end -->"] as const;

const NOTES = "Notes on what a client does not support or does differently:";

/** Reasons and remarks, numbered from 1 in the order in which the table mentions them. */
class Notes {
  readonly texts: string[] = [];

  number(text: string): number {
    const known = this.texts.indexOf(text);
    return known >= 0 ? known + 1 : this.texts.push(text);
  }
}

function cellOf(row: ReadonlyMap<Transport, Verdict>, notes: Notes): string {
  const failures = [...row].filter(([, { kind }]) => kind === "failed");
  if (failures.length > 0)
    return failures
      .map(
        ([transport, verdict]) => `FAILED over ${transport}: ${verdict.kind === "failed" ? verdict.why : ""}`,
      )
      .join("; ")
      .replace(/\s+/g, " ")
      .slice(0, 200);
  const verdicts = [...row.values()];
  const ok = verdicts.find(({ kind }) => kind === "ok");
  if (ok?.kind === "ok") return ok.remark === undefined ? "ok" : `ok (${notes.number(ok.remark)})`;
  const [cannot] = verdicts;
  return cannot?.kind === "cannot" ? `– (${notes.number(cannot.why)})` : "–";
}

/** Whether a client could use a transport, and all its cases over it were ok. */
function transportCell({ verdicts }: ClientReport, transport: Transport, notes: Notes): string {
  const column = [...verdicts.values()].map((row) => row.get(transport)!);
  if (column.some(({ kind }) => kind === "failed")) return "FAILED, see below";
  if (column.some(({ kind }) => kind === "ok")) return "ok";
  const [first] = column;
  return first?.kind === "cannot" ? `– (${notes.number(first.why)})` : "–";
}

interface Table {
  readonly rows: readonly (readonly string[])[];
  readonly notes: readonly string[];
}

function tableOf(reports: readonly ClientReport[]): Table {
  const notes = new Notes();
  const rows = [
    ["", ...reports.map(({ client, version }) => `${client} ${version}`)],
    ...transports.map((transport) => [
      transport,
      ...reports.map((report) => transportCell(report, transport, notes)),
    ]),
    ...cases.map((name) => [name, ...reports.map(({ verdicts }) => cellOf(verdicts.get(name)!, notes))]),
  ];
  return { rows, notes: notes.texts };
}

function h2specLines({ version, runs }: H2specResult): string[] {
  return runs.map(({ what, summary }) => `h2spec ${version}, strict, ${what}: ${summary}`);
}

/** Prints the report for a terminal. */
export function printReport(reports: readonly ClientReport[], h2spec: H2specResult | undefined): string {
  const lines: string[] = [];
  if (reports.length > 0) {
    const { rows, notes } = tableOf(reports);
    const widths = rows[0]!.map((_, column) =>
      Math.max(...rows.map((row) => Math.min(row[column]!.length, 40))),
    );
    lines.push(
      ...rows.map((row) =>
        row
          .map((cell, column) => cell.padEnd(widths[column]!))
          .join("  ")
          .trimEnd(),
      ),
      "",
      NOTES,
      ...notes.map((text, index) => `(${index + 1}) ${text}`),
      "",
    );
  }
  if (h2spec !== undefined) lines.push(...h2specLines(h2spec));
  return lines.join("\n");
}

function markdown(reports: readonly ClientReport[], h2spec: H2specResult | undefined): string {
  const lines: string[] = [];
  if (reports.length > 0) {
    const { rows, notes } = tableOf(reports);
    const [head, ...rest] = rows.map(
      (row) => `| ${row.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`,
    );
    lines.push(head!, `|${"---|".repeat(rows[0]!.length)}`, ...rest, "");
    lines.push(NOTES, "", ...notes.map((text, index) => `(${index + 1}) ${text}  `), "");
  }
  if (h2spec !== undefined) lines.push(...h2specLines(h2spec).map((line) => `- ${line}`), "");
  return lines.join("\n");
}

/** Writes the tables between the marks of a file. Without a file or marks, writes a file of the tables only. */
export function writeMarkdown(
  path: string,
  reports: readonly ClientReport[],
  h2spec: H2specResult | undefined,
): void {
  const old = existsSync(path) ? readFileSync(path, "utf8") : "";
  const [begin, end] = marks.map((mark) => old.indexOf(mark));
  const tables = `${marks[0]}\n\n${markdown(reports, h2spec)}\n${marks[1]}`;
  if (begin! >= 0 && end! > begin!)
    writeFileSync(path, old.slice(0, begin) + tables + old.slice(end! + marks[1].length));
  else writeFileSync(path, `${tables}\n`);
}

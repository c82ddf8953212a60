/** The verdicts as tables: for a terminal, and for a Markdown file. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { cases, type Transport, transports } from "./client.ts";
import type { Conformance } from "./h2spec.ts";
import type { Judgement, Verdict } from "./judge.ts";

const marks = ["<!-- judges: begin -->", "<!-- judges: end -->"] as const;

const NOTES = "What a client cannot do, and how it did otherwise what it did:";

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
function transportCell({ verdicts }: Judgement, transport: Transport, notes: Notes): string {
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

function tableOf(judgements: readonly Judgement[]): Table {
  const notes = new Notes();
  const rows = [
    ["", ...judgements.map(({ client, version }) => `${client} ${version}`)],
    ...transports.map((transport) => [
      transport,
      ...judgements.map((judgement) => transportCell(judgement, transport, notes)),
    ]),
    ...cases.map((name) => [name, ...judgements.map(({ verdicts }) => cellOf(verdicts.get(name)!, notes))]),
  ];
  return { rows, notes: notes.texts };
}

function conformanceLines({ version, runs }: Conformance): string[] {
  return runs.map(({ transport, summary }) => `h2spec ${version}, strict, ${transport}: ${summary}`);
}

/** For a terminal. */
export function printReport(judgements: readonly Judgement[], conformance: Conformance | undefined): string {
  const lines: string[] = [];
  if (judgements.length > 0) {
    const { rows, notes } = tableOf(judgements);
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
  if (conformance !== undefined) lines.push(...conformanceLines(conformance));
  return lines.join("\n");
}

function markdown(judgements: readonly Judgement[], conformance: Conformance | undefined): string {
  const lines: string[] = [];
  if (judgements.length > 0) {
    const { rows, notes } = tableOf(judgements);
    const [head, ...rest] = rows.map(
      (row) => `| ${row.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`,
    );
    lines.push(head!, `|${"---|".repeat(rows[0]!.length)}`, ...rest, "");
    lines.push(NOTES, "", ...notes.map((text, index) => `(${index + 1}) ${text}  `), "");
  }
  if (conformance !== undefined) lines.push(...conformanceLines(conformance).map((line) => `- ${line}`), "");
  return lines.join("\n");
}

/** Writes the tables between the marks of a file; a file without marks, or none, becomes the tables alone. */
export function writeMarkdown(
  path: string,
  judgements: readonly Judgement[],
  conformance: Conformance | undefined,
): void {
  const old = existsSync(path) ? readFileSync(path, "utf8") : "";
  const [begin, end] = marks.map((mark) => old.indexOf(mark));
  const tables = `${marks[0]}\n\n${markdown(judgements, conformance)}\n${marks[1]}`;
  if (begin! >= 0 && end! > begin!)
    writeFileSync(path, old.slice(0, begin) + tables + old.slice(end! + marks[1].length));
  else writeFileSync(path, `${tables}\n`);
}

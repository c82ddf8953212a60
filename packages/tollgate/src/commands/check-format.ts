import { sep } from "node:path";
import { styleText } from "node:util";
import { type Diagnostic, formatDiagnostic, formatLocation } from "../rules/diagnostic.ts";
import { diagnosticCodes } from "../rules/diagnostic-codes.ts";
import { MANUAL, pageOfDiagnostic } from "../text/manual.ts";
import type { CheckFormat } from "./check-options.ts";
import { docsOfDiagnostics } from "./docs-lines.ts";

/** The result of a check of all configurations. */
export interface CheckResult {
  readonly diagnostics: readonly Diagnostic[];
  readonly files: number;
  readonly domains: number;
  readonly rules: number;
}

/** Formats the whole output of a check, including the last line end. */
export function formatCheck(result: CheckResult, format: CheckFormat, color: boolean): string {
  if (format === "json") return `${JSON.stringify(asJson(result), undefined, 2)}\n`;
  if (format === "sarif") return `${JSON.stringify(asSarif(result.diagnostics), undefined, 2)}\n`;
  if (format === "github") return result.diagnostics.map((one) => `${asAnnotation(one)}\n`).join("");
  const lines = [
    ...result.diagnostics.map((one) => diagnosticText(one, color)),
    ...docsOfDiagnostics(result.diagnostics),
    summary(result, color),
  ];
  return `${lines.join("\n")}\n`;
}

function count(diagnostics: readonly Diagnostic[], severity: Diagnostic["severity"]): number {
  return diagnostics.filter((one) => one.severity === severity).length;
}

export type Style = Parameters<typeof styleText>[0];

export function paint(style: Style, text: string, color: boolean): string {
  return color ? styleText(style, text, { validateStream: false }) : text;
}

/** Formats a diagnostic with its source line and a caret under its column. */
export function diagnosticText(diagnostic: Diagnostic, color: boolean): string {
  const { severity, code, location, sourceLine } = diagnostic;
  const place = formatLocation(location);
  const message = formatDiagnostic(diagnostic).slice(place.length);
  const style: Style = severity === "error" ? "red" : "yellow";
  const first = `${paint("bold", place, color)}${paint(style, message, color)} ${paint("dim", `[${code}]`, color)}`;
  if (sourceLine === undefined) return first;
  const { shown, caretAt } = cut(sourceLine, location.column - 1);
  const number = String(location.line);
  const margin = `${" ".repeat(number.length + 3)}| `;
  // The padding keeps tabs, so that the terminal aligns the caret with the character.
  const padding = shown.slice(0, caretAt).replace(/[^\t]/g, " ");
  return `${first}\n  ${number} | ${shown}\n${margin}${padding}${paint(style, "^", color)}`;
}

/** Maximum number of shown characters of a line. */
const WIDTH = 160;

/** Replaces control characters of a line. Shortens a long line to the part around the column. */
function cut(line: string, column: number): { shown: string; caretAt: number } {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the function removes them
  const plain = line.replace(/[\u0000-\u0008\u000a-\u001f\u007f-\u009f\u2028\u2029]/g, "?");
  if (plain.length <= WIDTH) return { shown: plain, caretAt: column };
  const start = Math.max(0, Math.min(column - WIDTH / 2, plain.length - WIDTH));
  const before = start > 0 ? "..." : "";
  const after = start + WIDTH < plain.length ? "..." : "";
  const shown = `${before}${plain.slice(start, start + WIDTH)}${after}`;
  return { shown, caretAt: column - start + before.length };
}

function summary(result: CheckResult, color: boolean): string {
  const errors = count(result.diagnostics, "error");
  const warnings = count(result.diagnostics, "warning");
  const found = [errors > 0 ? number(errors, "error") : "", warnings > 0 ? number(warnings, "warning") : ""];
  const faults = found.filter((part) => part !== "").join(", ");
  const read = number(result.files, "file");
  if (errors > 0) return paint("red", `${faults} in ${read}`, color);
  const loaded = `${number(result.domains, "domain")}, ${number(result.rules, "limit")} in ${read}`;
  if (warnings > 0) return paint("yellow", `${loaded}: ${faults}`, color);
  return paint("green", `${loaded}: no errors`, color);
}

export function number(amount: number, what: string): string {
  return `${amount} ${what}${amount === 1 ? "" : "s"}`;
}

function asJson(result: CheckResult): object {
  const { diagnostics, ...counts } = result;
  return {
    errors: count(diagnostics, "error"),
    warnings: count(diagnostics, "warning"),
    ...counts,
    diagnostics: diagnostics.map(({ severity, code, message, location }) => {
      const { file, line, column } = location;
      const docs = MANUAL + pageOfDiagnostic(code);
      return { severity, code, file, ...(line > 0 && { line, column }), message, docs };
    }),
  };
}

/** Converts diagnostics to SARIF 2.1.0 (OASIS) for code scanning services. */
function asSarif(diagnostics: readonly Diagnostic[]): object {
  const rules = [...new Set(diagnostics.map(({ code }) => code))].sort();
  const results = diagnostics.map(({ severity, code, message, location }) => ({
    ruleId: code,
    ruleIndex: rules.indexOf(code),
    level: severity,
    message: { text: message },
    locations: [
      {
        physicalLocation: {
          artifactLocation: { uri: location.file.split(sep).map(encodeURIComponent).join("/") },
          ...(location.line > 0 && { region: { startLine: location.line, startColumn: location.column } }),
        },
      },
    ],
  }));
  const described = rules.map((id) => ({
    id,
    shortDescription: { text: diagnosticCodes[id].meaning },
    helpUri: MANUAL + pageOfDiagnostic(id),
  }));
  const driver = { name: "tollgate", rules: described };
  return {
    $schema: "https://json.schemastore.org/sarif-2.1.0.json",
    version: "2.1.0",
    runs: [{ tool: { driver }, columnKind: "utf16CodeUnits", results }],
  };
}

/** Formats a diagnostic as a workflow command of GitHub Actions. */
function asAnnotation({ severity, code, message, location }: Diagnostic): string {
  const data = (text: string) => text.replaceAll("%", "%25").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
  const property = (text: string) => data(text).replaceAll(":", "%3A").replaceAll(",", "%2C");
  const place = location.line > 0 ? `,line=${location.line},col=${location.column}` : "";
  return `::${severity} file=${property(location.file)}${place},title=${property(code)}::${data(`${message}\n${MANUAL}${pageOfDiagnostic(code)}`)}`;
}

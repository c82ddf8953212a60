import { sep } from "node:path";
import { styleText } from "node:util";
import { type Diagnostic, formatDiagnostic, formatLocation } from "../rules/diagnostic.ts";
import { diagnosticCodes } from "../rules/diagnostic-codes.ts";
import type { CheckFormat } from "./check-options.ts";

/** What a check found, in all configurations together. */
export interface CheckResult {
  readonly diagnostics: readonly Diagnostic[];
  readonly files: number;
  readonly domains: number;
  readonly rules: number;
}

/** The whole output of a check, with its last line end. */
export function formatCheck(result: CheckResult, format: CheckFormat, colour: boolean): string {
  if (format === "json") return `${JSON.stringify(asJson(result), undefined, 2)}\n`;
  if (format === "sarif") return `${JSON.stringify(asSarif(result.diagnostics), undefined, 2)}\n`;
  if (format === "github") return result.diagnostics.map((one) => `${asAnnotation(one)}\n`).join("");
  const lines = result.diagnostics.map((one) => `${diagnosticText(one, colour)}\n`);
  return `${lines.join("")}${summary(result, colour)}\n`;
}

function count(diagnostics: readonly Diagnostic[], severity: Diagnostic["severity"]): number {
  return diagnostics.filter((one) => one.severity === severity).length;
}

type Style = Parameters<typeof styleText>[0];

function paint(style: Style, text: string, colour: boolean): string {
  return colour ? styleText(style, text, { validateStream: false }) : text;
}

/** A diagnostic with its line and a caret under its column. */
export function diagnosticText(diagnostic: Diagnostic, colour: boolean): string {
  const { severity, code, location, sourceLine } = diagnostic;
  const place = formatLocation(location);
  const message = formatDiagnostic(diagnostic).slice(place.length);
  const style: Style = severity === "error" ? "red" : "yellow";
  const first = `${paint("bold", place, colour)}${paint(style, message, colour)} ${paint("dim", `[${code}]`, colour)}`;
  if (sourceLine === undefined) return first;
  const { shown, caretAt } = cut(sourceLine, location.column - 1);
  const number = String(location.line);
  const margin = `${" ".repeat(number.length + 3)}| `;
  // Tabs stay tabs, so that the caret stands where the terminal puts the character.
  const padding = shown.slice(0, caretAt).replace(/[^\t]/g, " ");
  return `${first}\n  ${number} | ${shown}\n${margin}${padding}${paint(style, "^", colour)}`;
}

/** Characters of a line that are shown. */
const WIDTH = 160;

/** A line without what could steer a terminal; of a long one, the part around the column. */
function cut(line: string, column: number): { shown: string; caretAt: number } {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is taken out
  const plain = line.replace(/[\u0000-\u0008\u000a-\u001f\u007f-\u009f\u2028\u2029]/g, "?");
  if (plain.length <= WIDTH) return { shown: plain, caretAt: column };
  const start = Math.max(0, Math.min(column - WIDTH / 2, plain.length - WIDTH));
  const before = start > 0 ? "..." : "";
  const after = start + WIDTH < plain.length ? "..." : "";
  const shown = `${before}${plain.slice(start, start + WIDTH)}${after}`;
  return { shown, caretAt: column - start + before.length };
}

function summary(result: CheckResult, colour: boolean): string {
  const errors = count(result.diagnostics, "error");
  const warnings = count(result.diagnostics, "warning");
  const found = [errors > 0 ? number(errors, "error") : "", warnings > 0 ? number(warnings, "warning") : ""];
  const faults = found.filter((part) => part !== "").join(", ");
  const read = number(result.files, "file");
  if (errors > 0) return paint("red", `${faults} in ${read}`, colour);
  const loaded = `${number(result.domains, "domain")}, ${number(result.rules, "limit")} in ${read}`;
  if (warnings > 0) return paint("yellow", `${loaded}: ${faults}`, colour);
  return paint("green", `${loaded}: no errors`, colour);
}

function number(amount: number, what: string): string {
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
      return { severity, code, file, ...(line > 0 && { line, column }), message };
    }),
  };
}

/** SARIF 2.1.0 (OASIS), as code scanning services read it. */
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
  const described = rules.map((id) => ({ id, shortDescription: { text: diagnosticCodes[id].meaning } }));
  const driver = { name: "tollgate", rules: described };
  return {
    $schema: "https://json.schemastore.org/sarif-2.1.0.json",
    version: "2.1.0",
    runs: [{ tool: { driver }, columnKind: "utf16CodeUnits", results }],
  };
}

/** A workflow command of GitHub Actions. */
function asAnnotation({ severity, code, message, location }: Diagnostic): string {
  const data = (text: string) => text.replaceAll("%", "%25").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
  const property = (text: string) => data(text).replaceAll(":", "%3A").replaceAll(",", "%2C");
  const place = location.line > 0 ? `,line=${location.line},col=${location.column}` : "";
  return `::${severity} file=${property(location.file)}${place},title=${property(code)}::${data(message)}`;
}

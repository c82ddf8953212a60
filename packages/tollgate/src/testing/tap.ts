import { formatDiagnostic, formatLocation } from "../rules/diagnostic.ts";
import { oneLine } from "../rules/one-line.ts";
import { differenceOf, type FileResult, headingOf } from "./report.ts";
import type { Failure } from "./run-tests.ts";

/** Formats results as TAP version 14 (https://testanything.org). Each file is a subtest. */
export function formatTap(files: readonly FileResult[]): string {
  const lines = ["TAP version 14", `1..${files.length}`];
  for (const [index, { file, errors, results }] of files.entries()) {
    lines.push(`# Subtest: ${escaped(file)}`);
    if (errors.length > 0) {
      lines.push("    1..1", "    not ok 1 - the files can be read");
      lines.push(...block(errors.map(formatDiagnostic), "    "));
    } else lines.push(`    1..${results.length}`);
    for (const [number, { name, failure }] of results.entries()) {
      lines.push(`    ${failure === undefined ? "ok" : "not ok"} ${number + 1} - ${escaped(name)}`);
      if (failure !== undefined) lines.push(...block(messageOf(failure), "    "));
    }
    const isOk = errors.length === 0 && results.every(({ failure }) => failure === undefined);
    lines.push(`${isOk ? "ok" : "not ok"} ${index + 1} - ${escaped(file)}`);
  }
  return `${lines.join("\n")}\n`;
}

/** A YAML block with a message of several lines. */
function block(message: readonly string[], indent: string): string[] {
  return [
    `${indent}  ---`,
    `${indent}  message: |`,
    ...message.map((line) => `${indent}    ${oneLine(line)}`),
    `${indent}  ...`,
  ];
}

function messageOf(failure: Failure): string[] {
  const difference = differenceOf(failure).map(({ sign, text }) => `${sign} ${text}`);
  return [`${formatLocation(failure.at)}: ${headingOf(failure)}`, ...difference];
}

/** `#` would begin a directive. */
function escaped(text: string): string {
  return oneLine(text).replace(/[\\#]/g, "\\$&");
}

import { parseEvents, YAMLException } from "js-yaml";
import type { Report } from "./report.ts";
import type { Source } from "./source-text.ts";
import { Composer, type Events } from "./yaml-composer.ts";
import type { YamlNode } from "./yaml-node.ts";

/** Maximum nesting of nodes. One level of descriptors takes two. */
export const MAX_DEPTH = 200;

/**
 * Parses a file with a single document.
 * @returns the root; undefined after a syntax error, which is added to the report; an empty plain scalar for an empty file
 */
export function parseYaml(source: Source, report: Report): YamlNode | undefined {
  const events = eventsOrReport(source.text, source, report);
  return events === undefined ? undefined : new Composer(source, report).compose(events);
}

/**
 * Parses a text to events. Returns undefined after a syntax error, which is added to the report. Its place is right for a
 * whole file only.
 */
export function eventsOrReport(
  text: string,
  source: Source,
  report: Report,
  maxDepth: number = MAX_DEPTH,
): Events | undefined {
  try {
    return parseEvents(text, { maxDepth });
  } catch (error) {
    const known = error instanceof YAMLException ? error : undefined;
    const reason = known?.reason ?? (error instanceof Error ? error.message : String(error));
    const offset = known?.mark?.position ?? 0;
    const deep = reason.startsWith("nesting exceeded");
    const fault = deep ? `nested deeper than ${MAX_DEPTH} levels` : `YAML syntax: ${reason}`;
    report.add(
      deep ? "too-deep" : "yaml-syntax",
      source.locate(offset),
      `${fault}${hint(reason, source.text, offset)}`,
    );
    return undefined;
  }
}

/** Returns the usual cause of a syntax error with this reason at this place. */
function hint(reason: string, text: string, offset: number): string {
  const start = Math.max(text.lastIndexOf("\n", offset - 1), text.lastIndexOf("\r", offset - 1)) + 1;
  const line = /[^\r\n]{0,1000}/y;
  line.lastIndex = start;
  const content = line.exec(text)?.[0] ?? "";
  if (/^ *\t/.test(content)) return ": the line begins with a tab; indent with spaces";
  const value = /:\s+([*&@`%|>!]\S*)/.exec(content)?.[1];
  if (value !== undefined) return `: if "${value}" is text, write it in quotes`;
  if (reason === "deficient indentation") return ": is a quote, bracket or brace before it not closed?";
  if (reason.startsWith("bad indentation"))
    return ": entries of one mapping or list must begin in the same column";
  return "";
}

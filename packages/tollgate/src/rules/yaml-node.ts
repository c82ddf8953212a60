import { EVENT_ID, getScalarValue, parseEvents, SCALAR_STYLE, YAMLException } from "js-yaml";
import type { DiagnosticCode } from "./diagnostic-codes.ts";
import type { Report } from "./report.ts";
import type { Source } from "./source-text.ts";

/**
 * A node of a YAML document, with its offset. An alias refers to the anchored node itself, so a node may occur in several
 * places (never inside itself). Code that walks the tree must bound the walk.
 */
export type YamlNode = YamlScalar | YamlSequence | YamlMapping;

export interface YamlScalar {
  readonly kind: "scalar";
  readonly offset: number;
  /** The text with escapes and folding resolved. `1.1`, `true` and `010` are not interpreted. */
  readonly text: string;
  /** Whether the scalar is neither quoted nor a block scalar: it may be null, a boolean or a number. */
  readonly plain: boolean;
}

export interface YamlSequence {
  readonly kind: "sequence";
  readonly offset: number;
  readonly items: YamlNode[];
}

export interface YamlMapping {
  readonly kind: "mapping";
  readonly offset: number;
  /** In the order of the file, with duplicates and unresolved merge keys. */
  readonly pairs: { readonly key: YamlNode; readonly value: YamlNode }[];
}

/** Maximum nesting of nodes. One level of descriptors takes two. */
const MAX_DEPTH = 200;

/**
 * Parses a file with a single document.
 * @returns the root; undefined after a syntax error, which is added to the report; an empty plain scalar for an empty file
 */
export function parseYaml(source: Source, report: Report): YamlNode | undefined {
  const events = parseOrReport(source, report);
  return events === undefined ? undefined : new Composer(source, report).compose(events);
}

type Events = ReturnType<typeof parseEvents>;

function parseOrReport(source: Source, report: Report): Events | undefined {
  try {
    return parseEvents(source.text, { maxDepth: MAX_DEPTH });
  } catch (error) {
    const known = error instanceof YAMLException ? error : undefined;
    const reason = known?.reason ?? (error instanceof Error ? error.message : String(error));
    const offset = known?.mark?.position ?? 0;
    const deep = reason.startsWith("nesting exceeded");
    const text = deep ? `nested deeper than ${MAX_DEPTH} levels` : `YAML syntax: ${reason}`;
    report.add(
      deep ? "too-deep" : "yaml-syntax",
      source.locate(offset),
      `${text}${hint(reason, source.text, offset)}`,
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

/** A collection that is not complete yet. `key` is the last key of a mapping if it has no value yet. */
interface Open {
  readonly node: YamlSequence | YamlMapping;
  key: YamlNode | undefined;
}

type NodeEvent = Extract<Events[number], { tagStart: number }>;
type AliasEvent = Extract<Events[number], { type: typeof EVENT_ID.ALIAS }>;

class Composer {
  readonly #source: Source;
  readonly #report: Report;
  readonly #anchors = new Map<string, YamlNode>();
  readonly #stack: Open[] = [];
  #root: YamlNode | undefined;
  /** Offset for an empty node, which has none of its own: the end of the last content. */
  #lastOffset = 0;

  constructor(source: Source, report: Report) {
    this.#source = source;
    this.#report = report;
  }

  compose(events: Events): YamlNode {
    let documents = 0;
    for (const event of events) {
      if (event.type === EVENT_ID.DOCUMENT) {
        if (++documents === 2) {
          this.#secondDocument();
          break;
        }
      } else if (event.type === EVENT_ID.POP) this.#stack.pop();
      else if (event.type === EVENT_ID.ALIAS) this.#add(this.#alias(event));
      else {
        const node = this.#node(event);
        this.#add(node);
        if (node.kind !== "scalar") this.#stack.push({ node, key: undefined });
      }
    }
    return this.#root ?? emptyScalar(0);
  }

  #node(event: NodeEvent): YamlNode {
    const tag = event.tagStart < 0 ? "" : this.#source.text.slice(event.tagStart, event.tagEnd);
    const node = this.#untagged(event, tag);
    if (tag !== "" && !knownTags[node.kind].has(shortTag(tag))) {
      this.#error("unknown-tag", event.tagStart, `unknown YAML tag "${tag}": remove it`);
    }
    if (event.anchorStart >= 0) this.#anchors.set(this.#name(event), node);
    return node;
  }

  #untagged(event: NodeEvent, tag: string): YamlNode {
    if (event.type === EVENT_ID.SEQUENCE) return { kind: "sequence", offset: event.start, items: [] };
    if (event.type === EVENT_ID.MAPPING) return { kind: "mapping", offset: event.start, pairs: [] };
    const quoted = event.style === SCALAR_STYLE.SINGLE_QUOTED || event.style === SCALAR_STYLE.DOUBLE_QUOTED;
    const offset = event.valueStart < 0 ? this.#emptyAt() : event.valueStart - (quoted ? 1 : 0);
    this.#lastOffset = Math.max(this.#lastOffset, event.valueEnd);
    const text = getScalarValue(this.#source.text, event);
    const isText = tag !== "" && (tag === "!" || shortTag(tag) === "!!str");
    const plain = event.style === SCALAR_STYLE.PLAIN && !isText;
    return { kind: "scalar", offset, text, plain };
  }

  /** Returns the offset of an empty node: an empty item of a list has its dash's offset. */
  #emptyAt(): number {
    const dash = /\s*-(?=\s|$)/y;
    dash.lastIndex = this.#lastOffset;
    if (dash.test(this.#source.text)) this.#lastOffset = dash.lastIndex;
    return Math.max(0, this.#lastOffset - 1);
  }

  #alias(event: AliasEvent): YamlNode {
    const name = this.#name(event);
    const node = this.#anchors.get(name);
    const offset = event.anchorStart - 1;
    if (node === undefined) {
      const message = `no anchor "&${name}" before this alias: if "*${name}" is text, write it in quotes`;
      this.#error("unknown-alias", offset, message);
      return asText(name, offset);
    }
    if (this.#stack.some((open) => open.node === node)) {
      this.#error("unknown-alias", offset, `the alias "*${name}" is inside the node that it refers to`);
      return asText(name, offset);
    }
    return node;
  }

  #add(node: YamlNode): void {
    const open = this.#stack.at(-1);
    if (open === undefined) this.#root ??= node;
    else if (open.node.kind === "sequence") open.node.items.push(node);
    else if (open.key === undefined) open.key = node;
    else {
      open.node.pairs.push({ key: open.key, value: node });
      open.key = undefined;
    }
  }

  #secondDocument(): void {
    // The event has no offset. The document begins at the first marker after the first document's last content.
    const marker = /^(?:---|\.\.\.)/gm;
    marker.lastIndex = this.#lastOffset;
    const offset = marker.exec(this.#source.text)?.index ?? this.#lastOffset;
    const message = "a second YAML document begins here: use one file for each configuration";
    this.#error("second-document", offset, message);
  }

  #name(event: NodeEvent | AliasEvent): string {
    return this.#source.text.slice(event.anchorStart, event.anchorEnd);
  }

  #error(code: DiagnosticCode, offset: number, message: string): void {
    this.#report.add(code, this.#source.locate(offset), message);
  }
}

const knownTags = {
  scalar: new Set(["!", "!!str", "!!int", "!!float", "!!bool", "!!null", "!!merge", "!!timestamp"]),
  sequence: new Set(["!", "!!seq"]),
  mapping: new Set(["!", "!!map"]),
};

function shortTag(tag: string): string {
  return tag.replace(/^!<tag:yaml\.org,2002:(\w+)>$/, "!!$1");
}

/** Replaces an alias without an anchor by its text, which was probably intended. */
function asText(name: string, offset: number): YamlScalar {
  return { kind: "scalar", offset, text: `*${name}`, plain: false };
}

function emptyScalar(offset: number): YamlScalar {
  return { kind: "scalar", offset, text: "", plain: true };
}

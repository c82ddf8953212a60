import { EVENT_ID, getScalarValue, type parseEvents, SCALAR_STYLE } from "js-yaml";
import type { DiagnosticCode } from "./diagnostic-codes.ts";
import { nameAt } from "./fields.ts";
import type { Report } from "./report.ts";
import type { Source } from "./source-text.ts";
import type { YamlMapping, YamlNode, YamlScalar, YamlSequence } from "./yaml-node.ts";

export type Events = ReturnType<typeof parseEvents>;

/** A part of a file, or a file without a part of its middle. */
export interface Piece {
  readonly text: string;
  /** From this position of the text on, the offset in the file is larger than the position by `gap`. */
  readonly cut: number;
  readonly gap: number;
}

type OpenSequence = YamlSequence & { readonly items: YamlNode[] };

/** A collection that is not complete yet. `key` is the last key of a mapping if it has no value yet. */
interface Open {
  readonly node: OpenSequence | YamlMapping;
  key: YamlNode | undefined;
}

type NodeEvent = Extract<Events[number], { tagStart: number }>;
type AliasEvent = Extract<Events[number], { type: typeof EVENT_ID.ALIAS }>;

/** Makes nodes from the events of one file. Several pieces of the file may be composed one after the other. */
export class Composer {
  readonly #source: Source;
  readonly #report: Report;
  #piece: Piece;
  readonly #anchors = new Map<string, YamlNode>();
  readonly #stack: Open[] = [];
  #root: YamlNode | undefined;
  /** Offset for an empty node, which has none of its own: the end of the last content. */
  #lastOffset = 0;

  constructor(source: Source, report: Report) {
    this.#source = source;
    this.#report = report;
    this.#piece = { text: source.text, cut: 0, gap: 0 };
  }

  get hasAnchors(): boolean {
    return this.#anchors.size > 0;
  }

  /** Composes the events of the whole file, or of a piece. Anchors of the pieces before it are known. */
  compose(events: Events, piece: Piece = this.#piece): YamlNode {
    this.#piece = piece;
    this.#root = undefined;
    this.#lastOffset = this.#offset(0);
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

  #node(event: NodeEvent): YamlScalar | OpenSequence | YamlMapping {
    const tag = event.tagStart < 0 ? "" : this.#piece.text.slice(event.tagStart, event.tagEnd);
    const node = this.#untagged(event, tag);
    if (tag !== "" && !knownTags[node.kind].has(shortTag(tag))) {
      this.#error("unknown-tag", this.#offset(event.tagStart), `unknown YAML tag "${tag}": remove it`);
    }
    if (event.anchorStart >= 0) this.#anchors.set(this.#name(event), node);
    return node;
  }

  #untagged(event: NodeEvent, tag: string): YamlScalar | OpenSequence | YamlMapping {
    if (event.type === EVENT_ID.SEQUENCE)
      return { kind: "sequence", offset: this.#offset(event.start), items: [] };
    if (event.type === EVENT_ID.MAPPING)
      return { kind: "mapping", offset: this.#offset(event.start), pairs: [] };
    const quoted = event.style === SCALAR_STYLE.SINGLE_QUOTED || event.style === SCALAR_STYLE.DOUBLE_QUOTED;
    let offset: number;
    if (event.valueStart < 0) offset = this.#emptyAt();
    else {
      offset = this.#offset(event.valueStart) - (quoted ? 1 : 0);
      this.#lastOffset = Math.max(this.#lastOffset, this.#offset(event.valueEnd));
    }
    const { text: all } = this.#piece;
    const known = event.fast ? nameAt(all, event.valueStart, event.valueEnd) : undefined;
    const text = known ?? getScalarValue(all, event);
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
    const offset = this.#offset(event.anchorStart) - 1;
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
    return this.#piece.text.slice(event.anchorStart, event.anchorEnd);
  }

  /** Returns the offset in the file of a position in the piece. */
  #offset(position: number): number {
    const { cut, gap } = this.#piece;
    return position < cut ? position : position + gap;
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

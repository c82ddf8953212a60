import type { Comment } from "oxc-parser";
import type { JsonLiteral, Refinements } from "../model/signature.ts";
import { SignatureError } from "../model/signature-error.ts";
import { REFINEMENT_TAGS, tagProblem } from "./jsdoc-tags.ts";
import type { SourceModule } from "./scope.ts";

/** A refinement as written, with its offset for error messages. */
export interface RefinementTag {
  readonly key: keyof Refinements;
  readonly text: string;
  readonly offset: number;
  /** The tag's name, if it differs from the key. */
  readonly name?: string;
}

export interface ParameterTag {
  readonly description: string;
  readonly refinements: readonly RefinementTag[];
}

export interface DocComment {
  readonly description: string;
  readonly deprecated: boolean;
  /** The value of `@default`. */
  readonly default?: JsonLiteral;
  readonly examples: readonly JsonLiteral[];
  /** The refinements outside of `@param`. */
  readonly refinements: readonly RefinementTag[];
  /** Tags by the name after `@param`, which may be dotted: `book.title`. */
  readonly parameters: ReadonlyMap<string, ParameterTag>;
  /** The text between the delimiters, and its offset in the file. */
  readonly text: string;
  readonly start: number;
}

export const NO_COMMENT: DocComment = {
  description: "",
  deprecated: false,
  examples: [],
  refinements: [],
  parameters: new Map(),
  text: "",
  start: 0,
};

const TAG = /(?<=^|\s)@([a-zA-Z]+)\b/g;
/** A tag, except `@type {T}`, which declares a type. */
const REFINEMENT = new RegExp(
  `(?<=^|\\s)(?!@type[ \\t]*\\{)@(${[...REFINEMENT_TAGS].join("|")})\\b[ \\t]*`,
  "g",
);
/** A tag at the beginning of a line, or one of those that may follow others on a line. */
const BLOCK_TAG = /(?<=^|\n)[ \t]*@([a-zA-Z]+)\b|(?<=\s)@(default|defaultValue|deprecated|example)\b/g;
const PARAMETER = /^[ \t]*(?:\{[^}\n]*\}[ \t]*)?\[?([\w$.]+)(?:[ \t]*=[^\]\n]*)?\]?[ \t]*(?:-[ \t]+)?/;
/** Tags without a value, which end at once. */
const FLAGS = new Set(["integer", "uniqueItems"]);

/**
 * The JSDoc comment directly before an offset. Only modifiers may be in between.
 *
 * @throws SignatureError for a tag that would silently have no effect
 */
export function readDocComment(module: SourceModule, offset: number): DocComment {
  const comment = commentTextBefore(module, offset);
  if (!comment) return NO_COMMENT;
  // A package documents itself by its own rules.
  if (!/[\\/]node_modules[\\/]/.test(module.source.file)) checkTags(comment.text, comment.start, module);
  return parseDocComment(comment.text, comment.start);
}

/** The text of the JSDoc comment directly before an offset, and its offset in the file. */
export function commentTextBefore(
  module: SourceModule,
  offset: number,
): { readonly text: string; readonly start: number } | undefined {
  const comment = commentBefore(module.comments, offset);
  if (!comment?.value.startsWith("*") || comment.type !== "Block") return undefined;
  const between = module.source.text.slice(comment.end, offset);
  if (!/^\s*(?:(?:export|default|declare|static|abstract|async|override|public|readonly)\s+)*$/.test(between))
    return undefined;
  module.usedComments.add(comment.start);
  return { text: plainText(comment), start: comment.start + 3 };
}

/** Whether a comment contains a tag that refines a type. */
export function hasRefinement(comment: Comment): boolean {
  return (
    comment.type === "Block" && comment.value.startsWith("*") && plainText(comment).search(REFINEMENT) >= 0
  );
}

/** The text between the delimiters. Stars at the beginning of lines become spaces, so that offsets remain valid. */
const plainText = (comment: Comment): string => comment.value.slice(1).replace(/(^|\n)([ \t]*)\*/g, "$1$2 ");

function checkTags(text: string, start: number, module: SourceModule): void {
  for (const { 1: name, index } of text.matchAll(TAG)) {
    // An example shows code, which may contain decorators.
    if (/@example\b(?:(?!\n[ \t]*@)[\s\S])*$/.test(text.slice(0, index))) continue;
    const problem = tagProblem(name!);
    if (problem)
      throw new SignatureError("INVALID_REFINEMENT", problem, module.source.location(start + index));
  }
}

function commentBefore(comments: readonly Comment[], offset: number): Comment | undefined {
  let low = 0;
  let high = comments.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (comments[middle]!.end <= offset) low = middle + 1;
    else high = middle;
  }
  return comments[low - 1];
}

/** `start` is the offset of the text in the file. */
function parseDocComment(plain: string, start: number): DocComment {
  const tags = [...plain.matchAll(BLOCK_TAG)];
  const parts = tags.map((tag, index) => ({
    name: (tag[1] ?? tag[2])!,
    from: tag.index + tag[0].length,
    to: tags[index + 1]?.index ?? plain.length,
    begin: tag.index,
  }));
  const head = plain.slice(0, parts[0]?.begin ?? plain.length);
  const refinements = readRefinements(head, start);
  const parameters = new Map<string, ParameterTag>();
  const examples: JsonLiteral[] = [];
  let fallback: JsonLiteral | undefined;
  let deprecated = false;
  for (const part of parts) {
    const body = plain.slice(part.from, part.to);
    if (part.name === "param") {
      const name = PARAMETER.exec(body);
      if (!name) continue;
      const rest = body.slice(name[0].length);
      const own = readRefinements(rest, start + part.from + name[0].length);
      parameters.set(name[1]!, { description: prose(rest), refinements: own });
      continue;
    }
    deprecated ||= part.name === "deprecated";
    const isDefault = part.name === "default" || part.name === "defaultValue";
    if (isDefault || part.name === "example") {
      const end = body.search(REFINEMENT);
      const value = jsonOrText(end < 0 ? body : body.slice(0, end));
      if (isDefault) fallback = value;
      else examples.push(value);
    }
    refinements.push(...readRefinements(plain.slice(part.begin, part.to), start + part.begin));
  }
  return {
    description: prose(head),
    deprecated,
    ...(fallback !== undefined && { default: fallback }),
    examples,
    refinements,
    parameters,
    text: plain,
    start,
  };
}

/** A JSON value, or any other text as it is. */
function jsonOrText(body: string): JsonLiteral {
  const text = body.trim().replace(/^`(.*)`$/s, "$1");
  try {
    return JSON.parse(text) as JsonLiteral;
  } catch {
    return text;
  }
}

/** A tag's text ends at the next tag or at the end of its line. */
function readRefinements(text: string, start: number): RefinementTag[] {
  return [...text.matchAll(REFINEMENT)].map((match) => {
    const rest = text.slice(match.index + match[0].length);
    // A pattern may start with `@`, and a tag without a value ends at once.
    const next = FLAGS.has(match[1]!) ? /\n|(?:^|\s)@[a-zA-Z]+\b/ : /\n|\s@[a-zA-Z]+\b/;
    const end = next.exec(rest)?.index ?? rest.length;
    const value = rest.slice(0, end).trim();
    const offset = start + match.index;
    if (match[1] !== "type") return { key: match[1] as keyof Refinements, text: value, offset };
    return value === "integer"
      ? { key: "integer", text: "", offset, name: "type" }
      : { key: "format", text: value, offset, name: "type" };
  });
}

/** The description: the text up to the first tag, with joined lines and separate paragraphs. */
function prose(text: string): string {
  const first = text.search(/(?<=^|\s)@[a-zA-Z]+\b/);
  return text
    .slice(0, first < 0 ? undefined : first)
    .split(/\n[ \t]*\n/)
    .map((paragraph) => paragraph.trim().replace(/\s*\n\s*/g, "\n"))
    .filter((paragraph) => paragraph !== "")
    .join("\n\n");
}

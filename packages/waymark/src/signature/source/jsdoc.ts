import type { Comment } from "oxc-parser";
import type { Refinements } from "../model/signature.ts";
import type { SourceModule } from "./scope.ts";

/** A refinement as written, with its offset for error messages. */
export interface RefinementTag {
  readonly key: keyof Refinements;
  readonly text: string;
  readonly offset: number;
}

export interface ParameterTag {
  readonly description: string;
  readonly refinements: readonly RefinementTag[];
}

export interface DocComment {
  readonly description: string;
  readonly deprecated: boolean;
  /** The refinements outside of `@param`. */
  readonly refinements: readonly RefinementTag[];
  /** By the name after `@param`, which may be dotted: `book.title`. */
  readonly parameters: ReadonlyMap<string, ParameterTag>;
}

const NOTHING: DocComment = { description: "", deprecated: false, refinements: [], parameters: new Map() };

const REFINEMENT = /(?<=^|\s)@(minimum|maximum|integer|minLength|maxLength|pattern|format)\b[ \t]*/g;
const BLOCK_TAG = /(?<=^|\n)[ \t]*@([a-zA-Z]+)\b/g;
const PARAMETER = /^[ \t]*(?:\{[^}\n]*\}[ \t]*)?\[?([\w$.]+)(?:[ \t]*=[^\]\n]*)?\]?[ \t]*(?:-[ \t]+)?/;

/** The JSDoc comment directly before an offset. Only modifiers may be in between. */
export function readDocComment(module: SourceModule, offset: number): DocComment {
  const comment = commentBefore(module.comments, offset);
  if (!comment?.value.startsWith("*") || comment.type !== "Block") return NOTHING;
  const between = module.source.text.slice(comment.end, offset);
  if (!/^\s*(?:(?:export|default|declare|static|abstract|async|override|public)\s+)*$/.test(between))
    return NOTHING;
  return parseDocComment(comment.value.slice(1), comment.start + 3);
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

/** `text` is the text between the comment's delimiters. `start` is its offset in the file. */
function parseDocComment(text: string, start: number): DocComment {
  // Stars at the beginning of lines become spaces, so that offsets remain valid.
  const plain = text.replace(/(^|\n)([ \t]*)\*/g, "$1$2 ");
  const tags = [...plain.matchAll(BLOCK_TAG)];
  const parts = tags.map((tag, index) => ({
    name: tag[1]!,
    from: tag.index + tag[0].length,
    to: tags[index + 1]?.index ?? plain.length,
    begin: tag.index,
  }));
  const head = plain.slice(0, parts[0]?.begin ?? plain.length);
  const refinements = readRefinements(head, start);
  const parameters = new Map<string, ParameterTag>();
  for (const part of parts) {
    const body = plain.slice(part.from, part.to);
    if (part.name === "param") {
      const name = PARAMETER.exec(body);
      if (!name) continue;
      const rest = body.slice(name[0].length);
      const own = readRefinements(rest, start + part.from + name[0].length);
      parameters.set(name[1]!, { description: prose(rest), refinements: own });
    } else {
      refinements.push(...readRefinements(plain.slice(part.begin, part.to), start + part.begin));
    }
  }
  return {
    description: prose(head),
    deprecated: parts.some(({ name }) => name === "deprecated"),
    refinements,
    parameters,
  };
}

/** A tag's text ends at the next tag or at the end of its line. */
function readRefinements(text: string, start: number): RefinementTag[] {
  return [...text.matchAll(REFINEMENT)].map((match) => {
    const rest = text.slice(match.index + match[0].length);
    // A pattern may start with `@`, and a tag without a value ends at once.
    const next = match[1] === "integer" ? /\n|(?:^|\s)@[a-zA-Z]+\b/ : /\n|\s@[a-zA-Z]+\b/;
    const end = next.exec(rest)?.index ?? rest.length;
    return {
      key: match[1] as keyof Refinements,
      text: rest.slice(0, end).trim(),
      offset: start + match.index,
    };
  });
}

/** The description: the text up to the first refinement, with joined lines and separate paragraphs. */
function prose(text: string): string {
  const [first] = text.matchAll(REFINEMENT);
  return text
    .slice(0, first?.index)
    .split(/\n[ \t]*\n/)
    .map((paragraph) => paragraph.trim().replace(/\s*\n\s*/g, "\n"))
    .filter((paragraph) => paragraph !== "")
    .join("\n\n");
}

import type { DocComment } from "./jsdoc.ts";
import { commentTextBefore } from "./jsdoc.ts";
import type { SourceModule } from "./scope.ts";

/** A type in braces, with its offset in the file. */
export interface CommentType {
  readonly text: string;
  readonly start: number;
  /** `@param {T} [name]` */
  readonly optional: boolean;
  /** The name after `@param`, which may be dotted. Undefined for `@type`. */
  readonly path?: string;
}

export interface CommentTypes {
  /** `@type {T}` before the parameter itself. */
  readonly inline: CommentType | undefined;
  /** Types by the name after `@param`: `book`, `book.title`. `books[].title` is `books.title`. */
  readonly byName: ReadonlyMap<string, CommentType>;
  /** The types of `@param` tags without a dot, for parameters that are patterns. */
  readonly inOrder: readonly CommentType[];
}

const PARAM = /(?<=^|\s)@(?:param|arg|argument)[ \t]*\{/g;
const NAME = /^[ \t]*(\[?)[ \t]*([\w$]+(?:(?:\[\])?\.[\w$]+)*)/;

/** The types that JSDoc gives to a parameter at an offset. */
export function commentTypes(
  module: SourceModule,
  offset: number,
  { text, start }: DocComment,
): CommentTypes {
  const byName = new Map<string, CommentType>();
  for (const match of text.matchAll(PARAM)) {
    const from = match.index + match[0].length;
    const type = bracedText(text, from);
    const name = type === undefined ? null : NAME.exec(text.slice(from + type.length + 1));
    if (type === undefined || !name) continue;
    const path = name[2]!.replaceAll("[]", "");
    byName.set(path, { text: type, start: start + from, optional: name[1] === "[", path });
  }
  const inOrder = [...byName].filter(([name]) => !name.includes(".")).map(([, type]) => type);
  return { inline: inlineType(module, offset), byName, inOrder };
}

function inlineType(module: SourceModule, offset: number): CommentType | undefined {
  const comment = commentTextBefore(module, offset);
  const match = comment && /(?<=^|\s)@type[ \t]*\{/.exec(comment.text);
  if (!comment || !match) return undefined;
  const from = match.index + match[0].length;
  const type = bracedText(comment.text, from);
  return type === undefined ? undefined : { text: type, start: comment.start + from, optional: false };
}

/** The text up to the brace that closes the one before `from`. */
function bracedText(text: string, from: number): string | undefined {
  let depth = 1;
  for (let at = from; at < text.length; at++) {
    if (text[at] === "{") depth++;
    else if (text[at] === "}" && --depth === 0) return text.slice(from, at);
  }
  return undefined;
}

/** Objects in JSDoc whose members have tags of their own: `@param {object} book`, then `@param {string} book.title`. */
import type { TSType } from "oxc-parser";
import type { CommentType } from "./jsdoc-types.ts";

const OBJECT = /^\s*[Oo]bject\s*(\[\s*\])?\s*$/;

/** The syntax of a type in a comment. Undefined if it is not the syntax of TypeScript. */
type Parse = (written: CommentType) => TSType | undefined;

/**
 * The syntax of the object type, or of the list of objects, that the tags of its members declare. Its parts have the
 * offsets that they have in the file.
 * @returns "none" if no tag declares a member; undefined if the type of a member is not the syntax of TypeScript
 */
export function membersType(
  written: CommentType,
  byName: ReadonlyMap<string, CommentType>,
  parse: Parse,
): TSType | "none" | undefined {
  const found = OBJECT.exec(written.text);
  if (!found || written.path === undefined) return "none";
  const beginning = `${written.path}.`;
  const own = [...byName].filter(
    ([path]) => path.startsWith(beginning) && !path.slice(beginning.length).includes("."),
  );
  if (own.length === 0) return "none";
  const place = { start: written.start, end: written.start + written.text.length };
  const members: unknown[] = [];
  for (const [path, member] of own) {
    const inner = membersType(member, byName, parse);
    const type = inner === "none" ? parse(member) : inner;
    if (type === undefined) return undefined;
    const range = { start: member.start, end: member.start + member.text.length };
    members.push({
      ...range,
      type: "TSPropertySignature",
      key: { ...range, type: "Identifier", name: path.slice(beginning.length) },
      computed: false,
      optional: member.optional,
      readonly: false,
      typeAnnotation: { ...range, type: "TSTypeAnnotation", typeAnnotation: type },
    });
  }
  const object = { ...place, type: "TSTypeLiteral", members };
  return (found[1] === undefined ? object : { ...place, type: "TSArrayType", elementType: object }) as TSType;
}

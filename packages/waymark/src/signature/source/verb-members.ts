import type { ClassElement } from "oxc-parser";
import { SignatureError } from "../model/signature-error.ts";
import type { ClassSource, SourceModule } from "./scope.ts";
import { propertyName } from "./values.ts";

/** An HTTP method in capitals (RFC 9110, section 9.1: a token). */
const VERB = /^[A-Z][A-Z0-9]*(?:[-_][A-Z0-9]+)*$/;

/**
 * A class declares its verbs as methods. A field, an accessor or an overload under a verb's name would not be routed
 * as it reads.
 *
 * @throws SignatureError with the member's line
 */
export function checkVerbMembers({ node, scope }: ClassSource): void {
  const { module } = scope;
  const refuse = (fault: string, start: number): never => {
    throw new SignatureError("MISPLACED_VERB", fault, module.source.location(start));
  };
  // The documentation of a member begins where the member before it ends.
  let from = node.body.start;
  for (const member of node.body.body) {
    const name = memberName(member);
    if (name !== undefined && VERB.test(name)) {
      const fault = hasOverloadTag(module, from, member.start) ? overloaded(name) : faultOf(member, name);
      if (fault) refuse(fault, member.start);
    }
    from = member.end;
  }
  for (const { name, start } of mergedMethods(node, module))
    if (VERB.test(name)) refuse(overloaded(name), start);
}

/** Whether a comment of JavaScript declares an overload of the member that follows. */
function hasOverloadTag({ comments, typed }: SourceModule, from: number, to: number): boolean {
  if (typed) return false;
  return comments.some(
    ({ start, end, value }) =>
      start >= from && end <= to && value.startsWith("*") && /^[\s*]*@overload\b/m.test(value),
  );
}

/** The methods that an interface of the same name adds to a class. */
function mergedMethods({ id }: ClassSource["node"], { program }: SourceModule): Member[] {
  return program.body.flatMap((statement) => {
    const declared = statement.type === "ExportNamedDeclaration" ? statement.declaration : statement;
    if (declared?.type !== "TSInterfaceDeclaration" || declared.id.name !== id?.name) return [];
    return declared.body.body.flatMap((member) => {
      const name = member.type === "TSMethodSignature" ? propertyName(member) : undefined;
      return name === undefined ? [] : [{ name, start: member.start }];
    });
  });
}

interface Member {
  readonly name: string;
  readonly start: number;
}

function memberName(member: ClassElement): string | undefined {
  if (member.type === "StaticBlock" || member.type === "TSIndexSignature") return undefined;
  // Constants of a class often have upper-case names.
  if ("static" in member && member.static) return undefined;
  return propertyName(member);
}

function faultOf(member: ClassElement, name: string): string | undefined {
  if (member.type === "MethodDefinition") {
    if (member.kind === "get" || member.kind === "set") return `${name} is an accessor. ${aMethod(name)}`;
    return member.value.body === null ? overloaded(name) : undefined;
  }
  if (member.type === "PropertyDefinition") {
    // `declare GET: ...` is erased
    return member.declare ? undefined : `${name} is a field. ${aMethod(name)}`;
  }
  return member.type === "AccessorProperty" ? `${name} is an accessor. ${aMethod(name)}` : undefined;
}

const overloaded = (name: string): string =>
  `${name} is overloaded, and a request cannot select an overload. Write one signature; its types may be unions`;

const aMethod = (name: string): string => `A verb must be a method: \`${name}() { ... }\``;

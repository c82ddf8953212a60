import type { ClassElement } from "oxc-parser";
import { SignatureError } from "../model/signature-error.ts";
import type { ClassSource } from "./scope.ts";
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
  for (const member of node.body.body) {
    const name = memberName(member);
    if (name === undefined || !VERB.test(name)) continue;
    const fault = faultOf(member, name);
    if (fault) throw new SignatureError("MISPLACED_VERB", fault, scope.module.source.location(member.start));
  }
}

function memberName(member: ClassElement): string | undefined {
  if (member.type === "StaticBlock" || member.type === "TSIndexSignature") return undefined;
  // Constants of a class often have upper-case names.
  if ("static" in member && member.static) return undefined;
  return member.computed ? undefined : propertyName(member);
}

function faultOf(member: ClassElement, name: string): string | undefined {
  if (member.type === "MethodDefinition") {
    if (member.kind === "get" || member.kind === "set") return `${name} is an accessor. ${aMethod(name)}`;
    if (member.value.body === null) {
      return `${name} is overloaded, and a request cannot select an overload. Write one signature; its types may be unions`;
    }
    return undefined;
  }
  if (member.type === "PropertyDefinition") {
    // `declare GET: ...` is erased
    return member.declare ? undefined : `${name} is a field. ${aMethod(name)}`;
  }
  return member.type === "AccessorProperty" ? `${name} is an accessor. ${aMethod(name)}` : undefined;
}

const aMethod = (name: string): string => `A verb must be a method: \`${name}() { ... }\``;

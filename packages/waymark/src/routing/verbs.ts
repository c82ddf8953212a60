import { type ControllerClass, isController, isControllerBase } from "../controller/controller.ts";

/** An HTTP method name in capitals (RFC 9110 token): `GET`, `M-SEARCH`, `X_LOCK`. */
const VERB = /^[A-Z][A-Z0-9]*(?:[-_][A-Z0-9]+)*$/;

export function isVerb(name: string): boolean {
  return VERB.test(name);
}

/**
 * The verbs of a class: the methods of its prototype chain up to `Controller`. Uses descriptors, so that no getter
 * runs, and a `Map`, so that `constructor` and `__proto__` are ordinary names.
 */
export function verbsOf(
  controller: ControllerClass,
  where: string,
  misfits: string[],
): Map<string, () => unknown> {
  const verbs = new Map<string, () => unknown>();
  let prototype: object | null = controller.prototype;
  while (prototype !== null && !isControllerBase(prototype.constructor)) {
    for (const [name, descriptor] of Object.entries(Object.getOwnPropertyDescriptors(prototype))) {
      if (!isVerb(name) || verbs.has(name)) continue;
      if (typeof descriptor.value !== "function") {
        const kind = descriptor.get || descriptor.set ? "an accessor" : "a field";
        misfits.push(`${where}: ${name} is ${kind}; a verb must be a method: ${name}() { ... }`);
        continue;
      }
      verbs.set(name, descriptor.value);
    }
    prototype = Object.getPrototypeOf(prototype);
  }
  return new Map([...verbs].sort(([one], [other]) => (one < other ? -1 : 1)));
}

/** The methods of RFC 9110, RFC 5789 and the QUERY draft. Other upper-case names are often constants. */
const COMMON = new Set([
  "CONNECT",
  "DELETE",
  "GET",
  "HEAD",
  "OPTIONS",
  "PATCH",
  "POST",
  "PUT",
  "QUERY",
  "TRACE",
]);
/** Names of catch-all handlers in other frameworks. */
const WILDCARDS = ["ALL", "ANY"];

/** Notes on members that look like verbs but are not. Runs no code of the class. */
export function verbNotes(
  controller: ControllerClass,
  verbs: ReadonlyMap<string, unknown>,
  where: string,
): string[] {
  const statics = staticMethods(controller).map(
    (name) =>
      `${where}: static ${name} is not routed, because a verb is a method of the instance: remove "static"`,
  );
  const wildcards = WILDCARDS.filter((name) => verbs.has(name)).map(
    (name) =>
      `${where}: ${name} answers only requests whose method is "${name}": write a method for each verb that the class serves`,
  );
  return [...statics, ...wildcards];
}

function staticMethods(controller: ControllerClass): string[] {
  const names = new Set<string>();
  let owner: object | null = controller;
  while (owner !== null && owner !== Function.prototype && !isControllerBase(owner)) {
    for (const [name, { value, get }] of Object.entries(Object.getOwnPropertyDescriptors(owner))) {
      const isMethod = (typeof value === "function" && !isController(value)) || get !== undefined;
      if (isMethod && COMMON.has(name)) names.add(name);
    }
    owner = Object.getPrototypeOf(owner);
  }
  return [...names];
}

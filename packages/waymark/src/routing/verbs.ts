import { type ControllerClass, isControllerBase } from "../controller.ts";

/** An HTTP method name in capitals (RFC 9110 token): `GET`, `M-SEARCH`, `X_LOCK`. */
const VERB = /^[A-Z][A-Z0-9]*(?:[-_][A-Z0-9]+)*$/;

export function isVerb(name: string): boolean {
  return VERB.test(name);
}

/**
 * The verbs of a class: methods of its prototype chain up to `Controller`. Looked up by descriptor, so that nothing
 * of the program runs, and kept in a `Map`, so that `constructor` and `__proto__` are names like any other.
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

import { KINDS } from "../signature/convert/kinds.ts";
import { COMPILE, PARTS, REFUSE } from "./parts.ts";
import { type Types, typesOf, type Usage } from "./usage.ts";

/** The module with the function that refuses. */
export const REFUSAL = "waymark:refusal";

export const REFUSAL_TEXT = `export function refuse() {
  throw new Error("this bundle lacks a part that the application did not use when it was built: build it with the same options");
}`;

/**
 * The imports that an application does not need, with the source of a module in place of each. If the application asks
 * for one after all, for instance because an option depends on the environment, its start fails with the reason.
 */
export function unusedParts(usage: Usage): Map<string, string> {
  const types = typesOf(usage);
  const unused = new Map([[`${COMPILE}>${KINDS_MODULE}`, usedKinds(types)]]);
  for (const { from, to, names, isUsed, instead } of PARTS) {
    if (isUsed(usage, types)) continue;
    const exported = names.map((name) => {
      const body = instead?.[name] ?? REFUSE;
      // Under one name, the bundle has one function.
      return body === REFUSE ? `export { refuse as ${name} };\n` : `export function ${name}() { ${body} }\n`;
    });
    unused.set(`${from}>${to}`, `import { refuse } from "${REFUSAL}";\n${exported.join("")}`);
  }
  return unused;
}

const KINDS_MODULE = "signature/convert/kinds";

/** The source of a table of converters with the kinds of types that the signatures contain. */
function usedKinds({ kinds }: Types): string {
  // A default value may also have a member `kind`.
  const used = [...kinds].filter((kind) => Object.hasOwn(KINDS, kind)).sort();
  return `import { refuse } from "${REFUSAL}";
import { ${used.map((kind) => `${kind}Kind`).join(", ")} } from "./${KINDS_MODULE}";
const used = { ${used.map((kind) => `${kind}: ${kind}Kind`).join(", ")} };
export const KINDS = new Proxy(used, { get: (_, kind) => used[kind] ?? refuse() });
`;
}

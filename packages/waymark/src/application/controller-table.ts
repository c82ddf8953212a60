import type { ModuleEntry } from "../routing/build-routes.ts";
import { classesOf, type FoundClass } from "../routing/classes.ts";
import { plainSignature } from "../routing/plain-signature.ts";
import { segmentOfModule } from "../routing/segment-names.ts";
import type { MethodSignature } from "../signature/model/signature.ts";
import type { ControllerTable } from "./options.ts";

/** The classes of the option `controllers`, as a tree of modules. */
export function tableEntry(
  table: ControllerTable,
  scan: { readonly notes: string[]; readonly misfits: string[] },
): ModuleEntry {
  return entryOf("controllers", "", table, scan);
}

/** Reads a table like a module's namespace: classes are its exports, other objects its submodules. */
function entryOf(
  name: string,
  segment: string,
  table: ControllerTable,
  scan: { readonly notes: string[]; readonly misfits: string[] },
): ModuleEntry {
  const children = Object.entries(table)
    .filter(([key, value]) => typeof value === "object" && value !== null && !/^[_.]/.test(key))
    .map(([key, value]) => entryOf(`${name}.${key}`, segmentOfModule(key), value as ControllerTable, scan));
  const classes = classesOf(table, { ...scan, file: undefined, module: name, isAbstract: () => false });
  return { name, segment, classes, children };
}

/** Every class of a tree, and the class of each static member. */
export function* allClasses(roots: readonly ModuleEntry[]): Generator<FoundClass> {
  for (const { classes, children } of roots) {
    for (const found of classes) yield* withMembers(found);
    yield* allClasses(children);
  }
}

function* withMembers(found: FoundClass): Generator<FoundClass> {
  yield found;
  for (const member of found.members) yield* withMembers(member);
}

/** The signatures of a class that show without its source. */
export function plainSignatures({ verbs }: FoundClass): Map<string, MethodSignature> {
  const known = new Map<string, MethodSignature>();
  for (const [verb, method] of verbs) {
    const signature = plainSignature(verb, method);
    if (signature !== undefined) known.set(verb, signature);
  }
  return known;
}

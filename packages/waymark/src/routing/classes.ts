import { type ControllerClass, isController, isControllerBase } from "../controller/controller.ts";
import type { Namespace } from "./load.ts";
import { segmentOfClass } from "./segment-names.ts";
import { StartError } from "./start-error.ts";
import { verbNotes, verbsOf } from "./verbs.ts";

/** An exported class, or a static member of one, before its signatures are read. */
export interface FoundClass {
  /** `Foo.Bar`. The name of the fallback is always `Default`. */
  readonly name: string;
  readonly segment: string;
  readonly controller: ControllerClass;
  readonly members: readonly FoundClass[];
  readonly verbs: ReadonlyMap<string, () => unknown>;
}

/**
 * The reason why a class is not routed. Undefined for a routed class. Abstract classes are found in the source: see
 * {@link AbstractCheck}.
 */
export type SkipReason = string | undefined;

/** True for a class that its source declares `abstract`, which is erased at run time. */
export type AbstractCheck = (controller: ControllerClass, file: string | undefined, name: string) => boolean;

export interface ClassScan {
  readonly file: string | undefined;
  readonly module: string;
  readonly isAbstract: AbstractCheck;
  readonly notes: string[];
  /** Verbs that are not methods. The source reader reports their lines; this list is for classes without a source. */
  readonly misfits: string[];
}

/** The controllers among a module's exports, sorted by name. */
export function classesOf(exports: Namespace, scan: ClassScan): FoundClass[] {
  const where = scan.file ?? scan.module;
  if ("default" in exports && "Default" in exports && exports.default !== exports.Default) {
    if (isController(exports.default) && isController(exports.Default))
      throw new StartError(
        "AMBIGUOUS_ROUTE",
        `${where}: "export default" and "Default" both name the fallback class: keep one`,
      );
  }
  const found: FoundClass[] = [];
  for (const name of Object.keys(exports).sort()) {
    const value = exports[name];
    if (name === "default" && isController(exports.Default)) continue;
    const each = classOf(name === "default" ? "Default" : name, value, "", scan, new Set());
    if (each !== undefined) found.push(each);
  }
  refuseTwins(found, where);
  return found;
}

function classOf(
  name: string,
  value: unknown,
  parent: string,
  scan: ClassScan,
  above: ReadonlySet<unknown>,
): FoundClass | undefined {
  if (!isController(value) || isControllerBase(value) || above.has(value)) return undefined;
  const full = parent === "" ? name : `${parent}.${name}`;
  const where = `${scan.file ?? scan.module}: class ${full}`;
  const verbs = verbsOf(value, where, scan.misfits);
  const reason = skipReason(name, full, value, scan);
  if (reason !== undefined) {
    if (verbs.size > 0) scan.notes.push(`${where} is not routed: ${reason}`);
    return undefined;
  }
  scan.notes.push(...verbNotes(value, verbs, where));
  const inside = new Set([...above, value]);
  const members: FoundClass[] = [];
  for (const [key, descriptor] of Object.entries(Object.getOwnPropertyDescriptors(value))) {
    const member = classOf(key, descriptor.value, full, scan, inside);
    if (member !== undefined) members.push(member);
  }
  refuseTwins(members, where);
  return { name: full, segment: segmentOfClass(name), controller: value, members, verbs };
}

function skipReason(name: string, full: string, controller: ControllerClass, scan: ClassScan): SkipReason {
  if (name.startsWith("_")) return 'its name starts with "_"';
  if (name.endsWith("Controller")) return 'its name ends in "Controller"';
  if (Object.hasOwn(controller, "private") && controller.private === true)
    return "it has static private = true";
  if (scan.isAbstract(controller, scan.file, full)) return "it is abstract";
  return undefined;
}

/** With two classes at one path, the order of exports would decide which one answers. */
function refuseTwins(classes: readonly FoundClass[], where: string): void {
  const seen = new Map<string, FoundClass>();
  for (const each of classes) {
    const twin = seen.get(each.segment);
    if (twin !== undefined)
      throw new StartError(
        "AMBIGUOUS_ROUTE",
        `${where}: ${twin.name} and ${each.name} both have the path "/${each.segment}": rename one`,
      );
    seen.set(each.segment, each);
  }
}

import { resolve } from "node:path";
import type { ControllerClass } from "../../controller/controller.ts";
import { abstractCheck } from "../../routing/abstract.ts";
import type { ModuleEntry, SignatureOf } from "../../routing/build-routes.ts";
import { type ClassScan, classesOf, type FoundClass } from "../../routing/classes.ts";
import { discover, type FoundModule } from "../../routing/discover.ts";
import { loadReader } from "../../routing/lazy.ts";
import { loadModules, type Namespace } from "../../routing/load.ts";
import { ownedFiles } from "../../routing/module-hooks.ts";
import { StartError } from "../../routing/start-error.ts";
import type { MethodSignature } from "../../signature/model/signature.ts";
import { allClasses, plainSignatures, tableEntry } from "../controller-table.ts";
import { type ApplicationOptions, prefixesOf } from "../options.ts";
import type { Gathered, Gathering } from "../platform.ts";

/** Controllers from the files under a prefix, or from the option `controllers`, with signatures from their sources. */
export async function gatherSources(
  options: ApplicationOptions,
  { notes, ...rest }: Gathering,
): Promise<Gathered> {
  const misfits: string[] = [];
  if (options.controllers !== undefined) {
    const root = tableEntry(options.controllers, { notes, misfits });
    return { roots: [root], signatureOf: await signaturesOf([root], options, { misfits, ...rest }, true) };
  }
  const directory = resolve(options.directory ?? process.cwd());
  const roots: ModuleEntry[] = [];
  for (const prefix of prefixesOf(options, process.env.FRAMEWORK_PREFIX)) {
    const tree = discover(prefix, directory);
    const loaded = await loadModules(tree);
    const isAbstract = await abstractCheck(ownedFiles());
    roots.push(foundEntry(tree, "", loaded, { isAbstract, notes, misfits }));
  }
  return { roots, signatureOf: await signaturesOf(roots, options, { misfits, ...rest }, false) };
}

function foundEntry(
  found: FoundModule,
  segment: string,
  loaded: ReadonlyMap<FoundModule, Namespace>,
  scan: Pick<ClassScan, "isAbstract" | "notes" | "misfits">,
): ModuleEntry {
  const { name, file } = found;
  return {
    name,
    segment,
    classes: classesOf(loaded.get(found) ?? {}, { ...scan, file, module: name }),
    children: [...found.children].map(([key, child]) => foundEntry(child, key, loaded, scan)),
  };
}

/** Reads all signatures in one pass. */
async function signaturesOf(
  roots: readonly ModuleEntry[],
  options: ApplicationOptions,
  { misfits, origins, verify, infer }: Omit<Gathering, "notes"> & { readonly misfits: readonly string[] },
  plain: boolean,
): Promise<SignatureOf> {
  const known = new Map<FoundClass, Map<string, MethodSignature>>();
  const requests: { controller: ControllerClass; verb: string; found: FoundClass }[] = [];
  const controllers: ControllerClass[] = [];
  for (const found of allClasses(roots)) {
    const { controller } = found;
    controllers.push(controller);
    const shown = plain && !infer ? plainSignatures(found) : new Map<string, MethodSignature>();
    known.set(found, shown);
    for (const verb of found.verbs.keys()) if (!shown.has(verb)) requests.push({ controller, verb, found });
  }
  if (requests.length > 0 || (!plain && controllers.length > 0) || misfits.length > 0) {
    const { readSignatures } = await loadReader();
    const warn = options.warn ?? ((message: string) => console.error(message));
    const read = readSignatures(requests, {
      unreadableTypes: options.unreadableTypes ?? "error",
      projects: options.projection ?? true,
      warn,
      controllers,
      verify,
      infer,
      origins: (files) => origins.push(...files),
    });
    for (const [at, { found, verb }] of requests.entries()) known.get(found)!.set(verb, read[at]!);
  }
  if (misfits.length > 0) throw new StartError("INVALID_VERB", misfits.join("\n"));
  return (found, verb) => known.get(found)!.get(verb)!;
}

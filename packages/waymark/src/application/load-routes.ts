import { resolve } from "node:path";
import type { ControllerClass } from "../controller/controller.ts";
import type { BodyRules } from "../http/body-kind.ts";
import { EventStreams } from "../http/event-streams.ts";
import { abstractCheck } from "../routing/abstract.ts";
import { buildRoutes, type ModuleEntry, type SignatureOf } from "../routing/build-routes.ts";
import { type ClassScan, classesOf, type FoundClass } from "../routing/classes.ts";
import { discover, type FoundModule } from "../routing/discover.ts";
import { loadReader } from "../routing/lazy.ts";
import { loadModules, type Namespace } from "../routing/load.ts";
import { manifestEntries } from "../routing/manifest.ts";
import { ownedFiles } from "../routing/module-hooks.ts";
import { plainSignature } from "../routing/plain-signature.ts";
import type { Routes } from "../routing/routes.ts";
import { segmentOfModule } from "../routing/segment-names.ts";
import { StartError } from "../routing/start-error.ts";
import type { MethodSignature } from "../signature/model/signature.ts";
import { type ApplicationOptions, type ControllerTable, prefixesOf } from "./options.ts";
import { collectKeywords } from "./parsed-body.ts";

const MEBIBYTE = 1024 * 1024;

export function bodyDefaults(options: ApplicationOptions): BodyRules {
  return {
    bodyLimit: options.bodyLimit ?? MEBIBYTE,
    multipartLimit: options.multipartLimit ?? Math.max(10 * MEBIBYTE, options.bodyLimit ?? 0),
    alwaysJson: false,
  };
}

/** What TypeScript's compiler does for a load, besides reading what the source alone does not show. */
interface CompilerAsks {
  /** It must agree on the type of every parameter. Default false. */
  readonly verify?: boolean;
  /** It infers the return types that are not written. Default: if the application serves its OpenAPI document. */
  readonly infer?: boolean;
}

/** Finds, loads and reads all controllers of an application. */
export async function loadRoutes(
  options: ApplicationOptions,
  events: EventStreams = new EventStreams(),
  asks: CompilerAsks = {},
): Promise<Routes> {
  const notes: string[] = [];
  const origins: string[] = [];
  const { roots, signatureOf } = await gather(options, {
    notes,
    origins,
    verify: asks.verify ?? false,
    // Without a document, nothing reads an inferred type, and a start saves the time of the compiler.
    infer: asks.infer ?? wantsOpenApi(options),
  });
  const defaults = {
    body: bodyDefaults(options),
    call: { trustProxy: options.trustProxy ?? false, collect: collectKeywords, events },
    unknownKeywords: options.unknownKeywords ?? "reject",
    projection: options.projection ?? true,
  } as const;
  if (!wantsOpenApi(options)) return buildRoutes(roots, signatureOf, defaults, notes, origins);
  // Loaded on demand: most applications do not serve the document.
  const { openApiPages, withPages } = await import("./openapi-pages.ts");
  const pages = openApiPages(options, notes)!;
  const own = new Set(pages.classes);
  const routes = buildRoutes(
    withPages(roots, pages),
    (found, verb) => (own.has(found) ? pages : { signatureOf }).signatureOf(found, verb),
    defaults,
    notes,
    origins,
  );
  pages.describe(routes);
  return routes;
}

/** What a load collects, and what the compiler does for it. */
interface Gathering extends Required<CompilerAsks> {
  readonly notes: string[];
  readonly origins: string[];
}

async function gather(
  options: ApplicationOptions,
  { notes, ...rest }: Gathering,
): Promise<{ roots: ModuleEntry[]; signatureOf: SignatureOf }> {
  if (options.manifest !== undefined) return manifestEntries(options.manifest, notes);
  if (options.controllers !== undefined) {
    const misfits: string[] = [];
    const root = tableEntry("controllers", "", options.controllers, { notes, misfits });
    return {
      roots: [root],
      signatureOf: await signaturesOf([root], options, { misfits, ...rest }, true),
    };
  }
  const directory = resolve(options.directory ?? process.cwd());
  const roots: ModuleEntry[] = [];
  const misfits: string[] = [];
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

/** Reads a table like a module's namespace: classes are its exports, other objects its submodules. */
function tableEntry(
  name: string,
  segment: string,
  table: ControllerTable,
  scan: Pick<ClassScan, "notes" | "misfits">,
): ModuleEntry {
  const children = Object.entries(table)
    .filter(([key, value]) => typeof value === "object" && value !== null && !/^[_.]/.test(key))
    .map(([key, value]) =>
      tableEntry(`${name}.${key}`, segmentOfModule(key), value as ControllerTable, scan),
    );
  const classes = classesOf(table, { ...scan, file: undefined, module: name, isAbstract: () => false });
  return { name, segment, classes, children };
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
  const visit = (found: FoundClass) => {
    controllers.push(found.controller);
    known.set(found, new Map());
    for (const [verb, method] of found.verbs) {
      const signature = plain && !infer ? plainSignature(verb, method) : undefined;
      if (signature === undefined) requests.push({ controller: found.controller, verb, found });
      else known.get(found)!.set(verb, signature);
    }
    for (const member of found.members) visit(member);
  };
  const walk = (entry: ModuleEntry) => {
    for (const found of entry.classes) visit(found);
    for (const child of entry.children) walk(child);
  };
  for (const root of roots) walk(root);
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

function wantsOpenApi({ openapi }: ApplicationOptions): boolean {
  return openapi !== undefined && openapi !== false;
}

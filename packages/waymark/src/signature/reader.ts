import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import { LazyCompiler } from "./compiler/lazy-compiler.ts";
import { compilerAccess } from "./compiler/questions.ts";
import type { NodePlace } from "./compiler/type-view.ts";
import type { MethodSignature } from "./model/signature.ts";
import { SignatureError } from "./model/signature-error.ts";
import { inheritedScope } from "./source/base-types.ts";
import { ClassSources, type ControllerClass, withBases } from "./source/class-sources.ts";
import { compilationSign } from "./source/compiled.ts";
import { type FunctionPosition, locateFunctions } from "./source/functions.ts";
import { type MethodOptions, readMethod } from "./source/method.ts";
import { SourceModules } from "./source/modules.ts";
import { originsOf } from "./source/origins.ts";
import type { ClassSource, FunctionSource } from "./source/scope.ts";
import { propertyName } from "./source/values.ts";

/** A method to read. `verb` is looked up along the prototype chain of `controller`. */
export interface SignatureRequest {
  /** A loaded controller class. */
  readonly controller: ControllerClass;
  readonly verb: string;
}

export interface ReadOptions {
  /** Treatment of a type that cannot be read. Default "error". */
  readonly unreadableTypes?: "error" | "raw";
  /** Whether written return types decide what is sent, so that they must be readable. Default true. */
  readonly projects?: boolean;
  /**
   * Receives each warning once, in one line with file, line and column: about a type that is passed on raw, or a
   * pattern whose backtracking may be unbounded.
   */
  readonly warn?: (message: string) => void;
  /** Classes whose members are also checked, even if none of their verbs is requested. */
  readonly controllers?: readonly ControllerClass[];
  /**
   * Whether TypeScript's compiler reads the types that the source alone does not show exactly. It is an optional peer.
   * Default true.
   */
  readonly compiler?: boolean;
  /** Whether the compiler must agree on every parameter: `waymark check`. Default false. */
  readonly verify?: boolean;
  /** Whether the compiler infers the return types that are not written, for documents. Default false. */
  readonly infer?: boolean;
  /** Receives every file that the signatures come from. A file of a package is replaced by its package.json. */
  readonly origins?: (files: readonly string[]) => void;
}

/**
 * The signatures of methods in the order of the requests, read from their source files. V8 provides the position of
 * each function, so re-exports, base classes and mixins are exact. Opens one inspector session and closes it. Parses
 * each module once.
 *
 * @throws SignatureError for the first fault, with file, line, column and remedy
 */
export function readSignatures(
  requests: readonly SignatureRequest[],
  options: ReadOptions = {},
): MethodSignature[] {
  const modules = new SourceModules();
  const methods = requests.map(findMethod);
  const classes = withBases([
    ...requests.map(({ controller }) => controller),
    ...(options.controllers ?? []),
  ]);
  const located = locateFunctions([...methods, ...classes]);
  const places = new Map(classes.map((one, index) => [one, located[methods.length + index]]));
  const sources = new ClassSources(places, modules);
  const warned = new Set<string>();
  const warn = (message: string): void => {
    if (!warned.has(message)) options.warn?.(message);
    warned.add(message);
  };
  for (const one of classes) sources.check(one);
  const compiler = options.compiler === false ? undefined : new LazyCompiler(sources.files());
  try {
    return requests.map((request, index) => {
      const { controller, verb } = request;
      const method = findSource(request, located[index], modules);
      const chain = sources.chain(controller);
      const scope = inheritedScope(method, chain, modules);
      const place = chain[0] && { owner: placeOf(chain[0]), method: verb };
      return readMethod(verb, scope ? { ...method, scope } : method, modules, {
        ...methodOptions(request, { ...options, warn }),
        compiler:
          compiler &&
          compilerAccess({
            open: () => compiler.open(),
            place,
            verifies: options.verify,
            infers: options.infer,
          }),
      });
    });
  } finally {
    options.origins?.(originsOf([...modules.files(), ...(compiler?.files() ?? [])]));
    compiler?.close();
  }
}

function placeOf({ node, scope }: ClassSource): NodePlace {
  return { file: scope.module.source.file, start: node.start, end: node.end };
}

function methodOptions({ controller, verb }: SignatureRequest, options: ReadOptions): MethodOptions {
  const { schema } = controller as { readonly schema?: Readonly<Record<string, object | undefined>> };
  return {
    unreadableTypes: options.unreadableTypes ?? "error",
    projects: options.projects ?? true,
    schemaNames: new Set(Object.keys(schema?.[verb] ?? {})),
    warn: options.warn ?? (() => {}),
  };
}

/** The function of a verb. Runs no getter. */
function findMethod({ controller, verb }: SignatureRequest): object {
  let target: object | null = controller.prototype as object;
  while (target) {
    const descriptor = Object.getOwnPropertyDescriptor(target, verb);
    if (descriptor) {
      if (typeof descriptor.value === "function") return descriptor.value as object;
      break;
    }
    target = Object.getPrototypeOf(target) as object | null;
  }
  throw new SignatureError("UNREADABLE_SOURCE", `${controller.name} has no method ${verb}`);
}

function findSource(
  { controller, verb }: SignatureRequest,
  position: FunctionPosition | undefined,
  modules: SourceModules,
): FunctionSource {
  const name = `${controller.name || "a class without a name"}.${verb}`;
  if (!position?.url.startsWith("file:")) {
    const reason = position
      ? `it was loaded from ${position.url || "text"}`
      : "it is a bound or native function";
    throw new SignatureError("UNREADABLE_SOURCE", `${name} has no source file: ${reason}. ${MANIFEST}`);
  }
  const file = fileURLToPath(position.url);
  const module = modules.read(file);
  const method = module.functions.get(module.source.offset(position.line, position.column));
  const isOther = method?.member && !method.member.computed && propertyName(method.member) !== verb;
  if (!method || isOther) {
    throw new SignatureError(
      "UNREADABLE_SOURCE",
      `${name} is not at the position that Node reports: the running code differs from the file (a loader or a compiler has changed it). ${MANIFEST}`,
      { file, line: position.line + 1, column: position.column + 1 },
    );
  }
  const sign = compilationSign(module);
  if (sign) {
    throw new SignatureError(
      "COMPILED_SOURCE",
      `${name} cannot be read: ${basename(file)} was compiled (${sign}), which erased its types. ${MANIFEST}`,
      module.source.location((method.member ?? method.node).start),
    );
  }
  return method;
}

const MANIFEST = "Run the unchanged sources, or build a manifest with `waymark build`.";

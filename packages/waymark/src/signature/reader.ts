import { fileURLToPath } from "node:url";
import { SignatureError } from "./errors.ts";
import type { MethodSignature, TypeNode } from "./model.ts";
import type { SchemaTable } from "./schema.ts";
import { type FunctionPosition, locateFunctions } from "./source/functions.ts";
import { readDocComment } from "./source/jsdoc.ts";
import type { FunctionSource, SourceModule } from "./source/module.ts";
import { SourceModules } from "./source/modules.ts";
import { readParameters } from "./source/parameters.ts";
import { TypeReader } from "./source/types.ts";
import { propertyName } from "./source/values.ts";

/** A method to read: `verb` is looked up along the prototype chain of `controller`. */
export interface SignatureRequest {
  /** A loaded controller class. */
  readonly controller: abstract new (
    ...args: never[]
  ) => unknown;
  readonly verb: string;
}

export interface ReadOptions {
  /** What to do with a type that cannot be read. Default "error". */
  readonly unreadableTypes?: "error" | "raw";
  /** Hears of each type passed on raw; one line, with file, line and column. */
  readonly warn?: (message: string) => void;
}

/**
 * The signatures of methods, in the order of the requests, read from their source files: V8 says
 * where each function stands, so re-exports, base classes and mixins are exact. Opens one inspector
 * session and closes it; parses each module once.
 *
 * @throws SignatureError for the first fault, with file, line, column and what to write instead
 */
export const readSignatures = (
  requests: readonly SignatureRequest[],
  options: ReadOptions = {},
): MethodSignature[] => {
  const modules = new SourceModules();
  const positions = locateFunctions(requests.map(findMethod));
  return requests.map((request, index) => readSignature(request, positions[index], modules, options));
};

/** The function that answers a verb, looked up without running any getter. */
const findMethod = ({ controller, verb }: SignatureRequest): object => {
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
};

const readSignature = (
  request: SignatureRequest,
  position: FunctionPosition | undefined,
  modules: SourceModules,
  options: ReadOptions,
): MethodSignature => {
  const { verb } = request;
  const { module, method } = findSource(request, position, modules);
  const { node, scope, member } = method;
  const types = new TypeReader(modules);
  const doc = readDocComment(module, (member ?? node).start);
  const schemaNames = new Set(Object.keys(schemasOf(request)));
  const onUnreadable = (error: SignatureError, names: readonly string[], text: string): TypeNode => {
    if (names.some((name) => schemaNames.has(name))) return { kind: "unreadable", text };
    if (options.unreadableTypes !== "raw") throw error;
    options.warn?.(`${error.message} It is passed on as it comes.`);
    return { kind: "unreadable", text };
  };
  const parameters = readParameters(node.params, { types, scope, doc, onUnreadable });
  const returns = node.returnType && types.returnType(node.returnType.typeAnnotation, scope);
  return {
    verb,
    parameters,
    ...(returns && { returns }),
    ...(doc.description && { description: doc.description }),
    ...(doc.deprecated && { deprecated: true }),
    location: module.source.location((member ?? node).start),
    definitions: types.definitions,
  };
};

/** What the class's `static schema` has under a verb. */
export const schemasOf = ({ controller, verb }: SignatureRequest): SchemaTable => {
  const { schema } = controller as { schema?: unknown };
  const table =
    typeof schema === "object" && schema !== null && Object.hasOwn(schema, verb)
      ? (schema as Record<string, unknown>)[verb]
      : undefined;
  return typeof table === "object" && table !== null ? (table as SchemaTable) : {};
};

const findSource = (
  { controller, verb }: SignatureRequest,
  position: FunctionPosition | undefined,
  modules: SourceModules,
): { module: SourceModule; method: FunctionSource } => {
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
      `${name} is not where Node says: the code that runs is not the text of the file (a loader or a compiler has changed it). ${MANIFEST}`,
      { file, line: position.line + 1, column: position.column + 1 },
    );
  }
  return { module, method };
};

const MANIFEST = "Run the sources as they are, or build a manifest with `waymark build`.";

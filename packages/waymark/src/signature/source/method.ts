import type { MethodSignature } from "../model/signature.ts";
import { SignatureError, WAYS_OUT } from "../model/signature-error.ts";
import type { ParameterContext } from "./annotations.ts";
import { mayBacktrackWithoutBound } from "./backtracking.ts";
import { NEVER } from "./combine.ts";
import type { CompilerAccess } from "./compiler-questions.ts";
import { readDocComment } from "./jsdoc.ts";
import type { SourceModules } from "./modules.ts";
import { readParameters } from "./parameters.ts";
import type { FunctionSource } from "./scope.ts";
import { SourceTypeReader } from "./source-type-reader.ts";
import { readStatuses } from "./statuses.ts";
import { alwaysThrows } from "./throws.ts";
import type { WrittenPattern } from "./type-reader.ts";

export interface MethodOptions {
  /** Treatment of a type that cannot be read. */
  readonly unreadableTypes: "error" | "raw";
  /** The arguments that a schema covers. Their types may be unreadable. */
  readonly schemaNames: ReadonlySet<string>;
  readonly warn: (message: string) => void;
  /** Reads the types that the source alone does not show exactly. Undefined if the compiler must not be asked. */
  readonly compiler?: CompilerAccess | undefined;
  /** Whether the written return type decides what is sent. It must then be readable. Default false. */
  readonly projects?: boolean;
}

/**
 * The signature of a method, from its syntax tree.
 *
 * @throws SignatureError at the part that cannot be read
 */
export function readMethod(
  verb: string,
  source: FunctionSource,
  modules: SourceModules,
  options: MethodOptions,
): MethodSignature {
  try {
    return read(verb, source, modules, options);
  } catch (error) {
    // TypeScript rejects circular declarations (`type A<T = T>`, `const a = b, b = a`), but Node runs them.
    if (!(error instanceof RangeError)) throw error;
    const location = source.scope.module.source.location((source.member ?? source.node).start);
    throw new SignatureError("UNREADABLE_TYPE", "the types of this method are circular", location);
  }
}

function read(
  verb: string,
  { node, scope, member }: FunctionSource,
  modules: SourceModules,
  { unreadableTypes, schemaNames, warn, projects, compiler }: MethodOptions,
): MethodSignature {
  modules.augmentations.follow(scope.module.source.file);
  const types = new SourceTypeReader(modules, scope, compiler);
  const start = (member ?? node).start;
  const doc = readDocComment(scope.module, start);
  const onUnreadable: ParameterContext["onUnreadable"] = (error, covers, text) => {
    const isCovered = covers.some(
      (names) => names.length > 0 && names.every((name) => schemaNames.has(name)),
    );
    if (!isCovered) {
      if (unreadableTypes === "error") throw error;
      warn(`${error.message} Its values are passed on unconverted.`);
    }
    return { kind: "unreadable", text };
  };
  const parameters = readParameters(node.params, { types, scope, doc, onUnreadable });
  for (const pattern of types.patterns) checkPattern(pattern, warn);
  const unsent: SignatureError[] = [];
  const written = node.returnType && types.returnType(node.returnType.typeAnnotation, scope, unsent);
  if (projects && unreadableTypes === "error" && unsent[0]) throw unreadableReturn(unsent[0]);
  // TypeScript infers `void` for a method that never ends normally.
  const inferred = written ? undefined : alwaysThrows(node) ? NEVER : types.inferredReturn(node, scope);
  const returns = written ?? inferred;
  const statuses = readStatuses(node);
  return {
    verb,
    parameters,
    ...(returns && { returns }),
    ...(inferred && { inferred: true }),
    ...(statuses && { statuses }),
    ...(doc.description && { description: doc.description }),
    ...(doc.deprecated && { deprecated: true }),
    location: scope.module.source.location(start),
    definitions: types.definitions,
  };
}

/** The ways out of a return type differ from those of a parameter. */
function unreadableReturn(error: SignatureError): SignatureError {
  const { file = "", line, column } = error.location ?? {};
  const [reason] = error.message
    .slice(error.location ? `${file}:${line}:${column}: `.length : 0)
    .split(WAYS_OUT);
  return new SignatureError(
    error.code,
    `${reason!.trim()} A written return type decides which properties are sent. Write it plainly, write \`unknown\`, leave it out, or turn \`projection\` off for the application.`,
    error.location,
  );
}

function checkPattern({ text, location }: WrittenPattern, warn: MethodOptions["warn"]): void {
  if (!mayBacktrackWithoutBound(text)) return;
  const { file, line, column } = location;
  warn(
    `${file}:${line}:${column}: @pattern ${text} may backtrack without bound, so that one request occupies the process. Write it so that no text matches in two ways (\`^a+$\` instead of \`^(a+)+$\`), begin it with ^, or check the value in the method.`,
  );
}

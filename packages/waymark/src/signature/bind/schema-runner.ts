import { propertyStep, shortened } from "../convert/converter.ts";
import { keywordNames, keywordShapes } from "../model/keyword-shapes.ts";
import { type MethodSignature, type ObjectNode, PATTERN_NAME, type Parameter } from "../model/signature.ts";
import { SignatureError } from "../model/signature-error.ts";
import type { BindFault } from "./bind-faults.ts";
import { type GivenArguments, originPlace } from "./given.ts";
import type { MissingPlace } from "./keyword-object.ts";
import type { SchemaIssue, SchemaResult, SchemaTable, StandardSchema } from "./standard-schema.ts";

/**
 * The shape of a keyword object that one schema validates as a whole: it accepts anything. The names that its type
 * declares still belong to it and not to a positional parameter.
 */
export function anyKeywords(shapes: readonly ObjectNode[]): ObjectNode {
  return {
    kind: "object",
    properties: keywordNames(shapes).map((name) => ({ name, type: { kind: "unknown" }, optional: true })),
    index: { kind: "unknown" },
  };
}

/**
 * The schema of a parameter without a readable type determines its role: the last parameter takes the keyword
 * arguments as a whole if its schema validates objects.
 */
export function assignSchemaRoles(signature: MethodSignature, schemas: SchemaTable): MethodSignature {
  const { parameters } = signature;
  if (parameters.some((parameter) => parameter.role === "keywords")) return signature;
  const last = parameters.findLastIndex((parameter) => parameter.role === "positional");
  const parameter = parameters[last];
  const schema = parameter && Object.hasOwn(schemas, parameter.name) ? schemas[parameter.name] : undefined;
  if (!parameter || !schema) return signature;
  const { kind } = parameter.type;
  const silent = kind === "untyped" || kind === "unreadable";
  if (!silent || !judgesObjects(schema)) return signature;
  return { ...signature, parameters: parameters.with(last, { ...parameter, role: "keywords" }) };
}

/** A schema of objects may reject the members of `{}`, but never `{}` itself. */
function judgesObjects(schema: StandardSchema): boolean {
  const result = probe(schema, {});
  if (result === "later") return true;
  if (!result) return false;
  if (result.issues) return result.issues.every((issue) => (issue.path?.length ?? 0) > 0);
  return typeof result.value === "object" && result.value !== null;
}

/** The result of a schema at startup. Undefined if it throws: the next call reports that. */
function probe(schema: StandardSchema, value: unknown): SchemaResult | "later" | undefined {
  try {
    const result = schema["~standard"].validate(value);
    if (!(result instanceof Promise)) return result;
    result.catch(() => {});
    return "later";
  } catch {
    return undefined;
  }
}

type Step = {
  readonly name: string;
  readonly schema: StandardSchema;
  readonly argument: number;
  readonly optional: boolean;
  /** Whether the schema accepts an absent argument. */
  readonly acceptsAbsence: boolean;
} & (
  | { readonly kind: "positional"; readonly index: number }
  | { readonly kind: "keyword" }
  | { readonly kind: "whole" }
  | { readonly kind: "rest" }
);

/** @throws SignatureError when a schema's name is not an argument */
export function compileSchemas(signature: MethodSignature, schemas: SchemaTable): SchemaRunner | undefined {
  const names = Object.keys(schemas);
  if (names.length === 0) return undefined;
  return new SchemaRunner(names.map((name) => compileStep(signature, name, schemas[name]!)));
}

function acceptsAbsence(schema: StandardSchema): boolean {
  const result = probe(schema, undefined);
  return result !== undefined && result !== "later" && !result.issues;
}

function compileStep(signature: MethodSignature, name: string, schema: StandardSchema): Step {
  const { parameters } = signature;
  const parts = { name, schema, acceptsAbsence: acceptsAbsence(schema) };
  const argument = parameters.findIndex((parameter) => parameter.role === "keywords");
  const keywords: Parameter | undefined = parameters[argument];
  const shapes = keywords ? keywordShapes(keywords.type, signature.definitions) : [];
  const property = shapes.flatMap((shape) => shape.properties).find((one) => one.name === name);
  if (property) return { ...parts, kind: "keyword", argument, optional: property.optional };
  const own = parameters.findIndex((parameter) => parameter.name === name);
  const parameter = parameters[own];
  if (parameter?.role === "positional") {
    const index = parameters.slice(0, own).filter((one) => one.role === "positional").length;
    return { ...parts, kind: "positional", argument: own, index, optional: parameter.optional };
  }
  if (parameter) {
    const kind = parameter.role === "keywords" ? "whole" : "rest";
    return { ...parts, kind, argument: own, optional: parameter.optional };
  }
  if (shapes.some((shape) => shape.index ?? shape.patterns))
    return { ...parts, kind: "keyword", argument, optional: true };
  const known = [
    ...parameters.map((one) => one.name).filter((one) => one !== PATTERN_NAME),
    ...keywordNames(shapes),
  ];
  throw new SignatureError(
    "UNKNOWN_SCHEMA_KEY",
    `static schema has a schema for "${name}", which is not an argument of ${signature.verb}; ${known.length === 0 ? "it has no arguments" : `its arguments are ${known.join(", ")}`}`,
    signature.location,
  );
}

/** Validates the arguments of a call with the schemas of its method. */
export class SchemaRunner {
  /** Whether a schema validates the keyword object as a whole. */
  readonly whole: boolean;
  readonly #steps: readonly Step[];
  readonly #names: ReadonlySet<string>;

  constructor(steps: readonly Step[]) {
    this.#steps = steps;
    this.#names = new Set(steps.map((step) => step.name));
    this.whole = steps.some((step) => step.kind === "whole");
  }

  /** Whether a schema replaces the type of this argument. */
  covers(name: string): boolean {
    return this.#names.has(name);
  }

  /** Whether a schema accepts the absence of this argument. */
  acceptsAbsence(name: string): boolean {
    return this.#steps.some((step) => step.name === name && step.acceptsAbsence);
  }

  /**
   * Replaces raw values by the results of their schemas and adds their issues to `faults`. If a schema is
   * asynchronous, this is complete when the returned promise resolves.
   */
  run(
    values: unknown[],
    given: GivenArguments,
    segmentCount: number,
    missingPlace: MissingPlace,
    faults: BindFault[],
  ): Promise<unknown> | undefined {
    const pending: Promise<void>[] = [];
    // An asynchronous schema finishes when `given` already holds the next request's arguments.
    const places = this.whole ? placesOf(given) : undefined;
    for (const step of this.#steps) {
      const target = targetOf(step, values);
      if (!target) continue;
      const fromPath = step.kind === "rest" || (step.kind === "positional" && step.index < segmentCount);
      const place = fromPath ? "path" : (placeOf(given, step.name) ?? missingPlace);
      const report = (issue: SchemaIssue): void => {
        // Not `map`: arktype's path is a subclass of Array whose constructor takes the elements, so a length
        // of 0 would become an element.
        const path = Array.from(issue.path ?? [], (key) => (typeof key === "object" ? key.key : key));
        if (step.kind === "whole") {
          const [first, ...way] = path;
          const name = first === undefined ? "" : String(first);
          faults.push({
            in: places?.get(name) ?? missingPlace,
            name: shortened(name) + steps(way),
            message: issue.message,
          });
        } else {
          const missing = target.value === undefined && path.length === 0;
          faults.push({
            in: place,
            name: step.name + steps(path),
            message: missing ? "is required" : issue.message,
          });
        }
      };
      const settle = (result: SchemaResult): void => {
        if (!result.issues) target.put(result.value);
        else if (target.value !== undefined || !step.optional) result.issues.forEach(report);
      };
      const result = step.schema["~standard"].validate(target.value);
      if (result instanceof Promise) pending.push(result.then(settle));
      else settle(result);
    }
    return pending.length > 0 ? Promise.all(pending) : undefined;
  }
}

interface Target {
  readonly value: unknown;
  put(value: unknown): void;
}

/** The position of a schema's value among the arguments. Undefined if the argument is absent. */
function targetOf(step: Step, values: unknown[]): Target | undefined {
  const { argument, name } = step;
  if (step.kind === "rest") {
    return {
      value: values.slice(argument),
      put: (value) => {
        if (Array.isArray(value)) values.splice(argument, values.length, ...value);
      },
    };
  }
  const own = values[argument];
  if (step.kind === "keyword") {
    const keywords = own as Record<string, unknown> | undefined;
    return (
      keywords && {
        value: keywords[name],
        put: (value) => {
          if (value === undefined) delete keywords[name];
          else keywords[name] = value;
        },
      }
    );
  }
  // A missing positional is already reported, unless its schema accepts its absence.
  if (own === undefined && (step.kind === "whole" || !step.acceptsAbsence)) return undefined;
  return {
    value: own,
    put: (value) => {
      values[argument] = value;
    },
  };
}

function steps(path: readonly PropertyKey[]): string {
  return path.map((key) => (typeof key === "number" ? `[${key}]` : propertyStep(String(key)))).join("");
}

/** The source of an argument. Undefined if it is absent. */
function placeOf({ names, origins, extras }: GivenArguments, name: string): MissingPlace | undefined {
  const origin = origins[names.indexOf(name)] ?? extras?.get(name)?.origin;
  return origin ? originPlace(origin) : undefined;
}

/** The source of each argument, as a copy that outlives the request. */
function placesOf(given: GivenArguments): Map<string, MissingPlace> {
  const places = new Map<string, MissingPlace>();
  for (const name of [...given.names, ...(given.extras?.keys() ?? [])]) {
    const place = placeOf(given, name);
    if (place) places.set(name, place);
  }
  return places;
}

import { typeCompiler } from "../convert/compile.ts";
import { type Converter, describe, INVALID, type Note, shortened } from "../convert/converter.ts";
import type { CountMembers } from "../convert/count-members.ts";
import type { JsonNumbers } from "../convert/json-numbers.ts";
import type { Outcomes } from "../convert/outcomes.ts";
import { RAW } from "../convert/raw.ts";
import type { BindInput } from "../model/input.ts";
import { keywordNames, keywordShapes } from "../model/keyword-shapes.ts";
import { listBodyParameter } from "../model/list-body.ts";
import { didYouMean } from "../model/nearest-name.ts";
import type { MethodSignature, TypeNode } from "../model/signature.ts";
import { type BindFault, BindFaults } from "./bind-faults.ts";
import { GivenArguments, ORIGIN, originPlace } from "./given.ts";
import { convertGiven, type KeywordObject, type MissingPlace, takeNotes } from "./keyword-object.ts";
import { compileKeywords, makeKeywords } from "./keywords.ts";
import { bindRest, type CompiledRest, compileRest } from "./rest.ts";
import { anyKeywords, assignSchemaRoles, compileSchemas, type SchemaRunner } from "./schema-runner.ts";
import type { SchemaTable } from "./standard-schema.ts";
import { compileWholeBody } from "./whole-body.ts";

export type BindResult = unknown[] | BindFaults;

export interface Binder {
  /**
   * Number of segments that fill all required parameters. Fewer segments may suffice if keywords fill parameters by
   * name: see {@link Binder.missing}.
   */
  readonly minimum: number;
  /** Largest number of segments. Infinity with a rest parameter. More segments are a 404. */
  readonly maximum: number;
  /** False for a method without parameters, which accepts any body unread. */
  readonly readsBody: boolean;
  /**
   * The first required parameter that neither the segments nor the query fill. Undefined if a body follows
   * (`bodyComes`), because it may fill the parameter. Such a parameter is a 404 that requires no reading of the body.
   * Only useful below `minimum`.
   */
  missing(segmentCount: number, query: string, bodyComes: boolean): string | undefined;
  /** For JSON bodies that become the keyword object unchanged. Undefined if some bodies must be converted. */
  readonly countMembers: CountMembers | undefined;
  /** The arguments of the call in order, or all their faults. A promise only if a schema is asynchronous. */
  bind(input: BindInput): BindResult | Promise<BindResult>;
}

export interface BinderOptions {
  /** Treatment of a keyword that the signature does not declare. Default "reject" (400). */
  readonly unknownKeywords?: "reject" | "ignore";
  /** The class's `static schema` for this verb. */
  readonly schemas?: SchemaTable | undefined;
}

/**
 * Compiles a signature into a binder, which creates the arguments of a call. All work that does not depend on the
 * request happens here, once.
 *
 * @throws SignatureError when a schema's name is not an argument of the method
 */
export function compileBinder(signature: MethodSignature, options: BinderOptions = {}): Binder {
  return new CompiledBinder(signature, options);
}

interface CompiledPositional {
  readonly name: string;
  readonly slot: number;
  readonly argument: number;
  readonly required: boolean;
  readonly converter: Converter;
}

/** The verbs whose missing arguments are reported in the query. */
const QUERY_VERBS = new Set(["GET", "HEAD", "DELETE", "OPTIONS", "TRACE"]);

class CompiledBinder implements Binder {
  readonly minimum: number;
  readonly maximum: number;
  readonly readsBody: boolean;
  readonly countMembers: CountMembers | undefined;
  readonly #argumentCount: number;
  readonly #positionals: readonly CompiledPositional[];
  readonly #rest: CompiledRest | undefined;
  readonly #keywords:
    | { readonly argument: number; readonly optional: boolean; readonly object: KeywordObject }
    | undefined;
  readonly #given: GivenArguments;
  readonly #reportsUnknown: boolean;
  readonly #queryVerb: boolean;
  readonly #schemas: SchemaRunner | undefined;
  readonly #numbers: JsonNumbers;
  readonly #outcomes: Outcomes;
  readonly #notes: Note[] = [];

  constructor(given: MethodSignature, options: BinderOptions) {
    const schemas = options.schemas ?? {};
    const signature = assignSchemaRoles(given, schemas);
    const unknownKeywords = options.unknownKeywords ?? "reject";
    const context = typeCompiler(signature.definitions, unknownKeywords);
    this.#numbers = context.numbers;
    this.#outcomes = context.outcomes;
    this.#reportsUnknown = unknownKeywords === "reject";
    this.#queryVerb = QUERY_VERBS.has(signature.verb);
    this.#argumentCount = signature.parameters.length;
    this.readsBody = signature.parameters.length > 0;

    const runner = compileSchemas(signature, schemas);
    this.#schemas = runner;
    const schemaFor = (name: string): Converter | undefined => (runner?.covers(name) ? RAW : undefined);
    const converterOf = (name: string, type: TypeNode): Converter => schemaFor(name) ?? context.compile(type);

    const keywords = signature.parameters.findIndex((parameter) => parameter.role === "keywords");
    const declared =
      keywords < 0 ? [] : keywordShapes(signature.parameters[keywords]!.type, signature.definitions);
    const shapes = runner?.whole ? [anyKeywords(declared)] : declared;
    const slots = new Map(keywordNames(shapes).map((name, slot) => [name, slot]));
    const positionals: CompiledPositional[] = [];
    signature.parameters.forEach(({ role, name, type, optional }, argument) => {
      if (role !== "positional") return;
      // A name that the keyword object declares belongs only to that object.
      const own = slots.has(name) ? -1 : slots.size;
      if (own >= 0) slots.set(name, own);
      const required = !optional && !runner?.acceptsAbsence(name);
      positionals.push({ name, slot: own, argument, required, converter: converterOf(name, type) });
    });
    this.#positionals = positionals;
    if (keywords >= 0) {
      const object = compileKeywords(shapes, slots, context, schemaFor);
      this.#keywords = { argument: keywords, optional: signature.parameters[keywords]!.optional, object };
    }
    this.countMembers = compileWholeBody(signature, shapes, options);
    this.#rest = compileRest(signature.parameters, positionals.length, converterOf);
    this.#given = new GivenArguments(slots, listBodyParameter(signature)?.name);
    this.minimum = positionals.findLastIndex((positional) => positional.required) + 1;
    this.maximum = this.#rest ? Number.POSITIVE_INFINITY : positionals.length;
  }

  missing(segmentCount: number, query: string, bodyComes: boolean): string | undefined {
    if (bodyComes || segmentCount >= this.minimum) return undefined;
    const given = this.#given;
    if (query !== "") given.addQuery(query);
    const first = this.#positionals.find(
      ({ required, slot }, index) => required && index >= segmentCount && !isGiven(given, slot),
    );
    given.clear();
    return first?.name;
  }

  bind(request: BindInput): BindResult | Promise<BindResult> {
    if (request.segments.length > this.maximum) {
      return tooManySegments(request.segments.length, this.maximum);
    }
    try {
      return this.#bind(request);
    } finally {
      // Runs even if a schema throws, because no data of this request may reach the next one.
      this.#given.clear();
      this.#outcomes.clear();
      if (request.body?.kind === "json") this.#numbers.source = undefined;
    }
  }

  #bind({ segments, query, body }: BindInput): BindResult | Promise<BindResult> {
    const given = this.#given;
    const fault =
      (query !== "" ? given.addQuery(query) : undefined) ??
      (body && !body.isWhole ? given.addBody(body) : undefined);
    if (fault) return new BindFaults(400, [fault]);
    if (body?.kind === "json") this.#numbers.source = body.source;
    const faults: BindFault[] = [];
    const values: unknown[] = new Array(this.#argumentCount);
    for (let at = 0; at < values.length; at++) values[at] = undefined;
    const place = this.#queryVerb && !body ? "query" : "body";
    const missing = this.#bindPositionals(segments, values, faults);
    if (this.#rest) bindRest(this.#rest, segments, values, this.#notes, faults);
    if (body?.isWhole) values[this.#keywords!.argument] = body.value;
    else this.#bindKeywords(place, values, faults);
    const status = missing ? 404 : 400;
    const pending = this.#schemas?.run(values, given, segments.length, place, faults);
    if (pending) return pending.then(() => (faults.length > 0 ? new BindFaults(status, faults) : values));
    return faults.length > 0 ? new BindFaults(status, faults) : values;
  }

  /** Returns whether a required argument is missing. */
  #bindPositionals(segments: readonly string[], values: unknown[], faults: BindFault[]): boolean {
    const given = this.#given;
    const positionals = this.#positionals;
    let missing = false;
    for (let index = 0; index < positionals.length; index++) {
      const { name, slot, argument, required, converter } = positionals[index]!;
      if (index < segments.length) {
        const value = converter.fromText(segments[index]!, this.#notes);
        if (value === INVALID) takeNotes(this.#notes, "path", name, faults);
        values[argument] = value;
        if (given.total > 0 && isGiven(given, slot)) {
          faults.push({
            in: originPlace(given.origins[slot]!),
            name,
            message: "is already given in the path",
          });
        }
      } else if (given.total > 0 && isGiven(given, slot)) {
        values[argument] = convertGiven(converter, name, given.values[slot], given.origins[slot]!, faults);
      } else if (required) {
        missing = true;
        faults.push({ in: "path", name, message: "is required" });
      }
    }
    return missing;
  }

  #bindKeywords(place: MissingPlace, values: unknown[], faults: BindFault[]): void {
    const given = this.#given;
    const keywords = this.#keywords;
    if (keywords) {
      const { argument, optional, object } = keywords;
      if (!optional || this.#anyKeywordCame(object)) {
        values[argument] = makeKeywords(object, given, place, this.#reportsUnknown, faults);
      }
      if (object.variadic) return;
    }
    if (!given.extras) return;
    for (const [name, { value, origin }] of given.extras) {
      if (given.isValue && origin === ORIGIN.json) {
        faults.push(notAnObject(value));
      } else if (this.#reportsUnknown) {
        faults.push({
          in: originPlace(origin),
          name: shortened(name),
          message: `is not an argument of this method${didYouMean(name, given.names, faults.length)}`,
        });
      }
    }
  }

  #anyKeywordCame({ shapes, variadic }: KeywordObject): boolean {
    const given = this.#given;
    if (given.total === 0) return false;
    if (variadic && given.extras) return true;
    return shapes.some(({ keywords }) => keywords.some(({ slot }) => isGiven(given, slot)));
  }
}

function isGiven(given: GivenArguments, slot: number): boolean {
  return slot >= 0 && given.origins[slot] !== ORIGIN.none;
}

function tooManySegments(count: number, maximum: number): BindFaults {
  return new BindFaults(404, [
    {
      in: "path",
      name: "",
      message: `takes at most ${maximum} path segment${maximum === 1 ? "" : "s"}, got ${count}`,
    },
  ]);
}

/** A JSON value other than an object is the keyword `body`, which few methods have. */
function notAnObject(value: unknown): BindFault {
  return {
    in: "body",
    name: "",
    message: `must be a JSON object, got ${describe(value)}`,
  };
}

import { isData } from "../signature/model/keyword-shapes.ts";
import { listBodyParameter } from "../signature/model/list-body.ts";
import type { MethodSignature, Parameter } from "../signature/model/signature.ts";
import { Components } from "./components.ts";
import type {
  OpenApiDocument,
  OpenApiInfo,
  OpenApiParameter,
  Operation,
  RequestBody,
  Spec,
} from "./document-types.ts";
import {
  keywordBody,
  type ParameterContext,
  pathParameter,
  QUERY_VERBS,
  queryParameters,
  valueBody,
} from "./operation-inputs.ts";
import { PROBLEM_DETAILS, PROBLEM_RESPONSE, responsesOf } from "./responses.ts";
import { type DocumentedGuard, refusalsOf, SecuritySchemes } from "./security.ts";
import { standardJsonSchema } from "./standard-json-schema.ts";
import { type DocumentedVersions, withVersions } from "./versions.ts";

/** The parts of a class that the document needs. A `RouteClass` has them all. */
export interface DocumentedClass {
  /** The export's name: `Foo`, `Foo.Bar`, `Default`. */
  readonly name: string;
  /** The path of the class, `/` for the root's `Default`. */
  readonly path: string;
  readonly verbs: ReadonlyMap<
    string,
    { readonly signature: MethodSignature; readonly guard?: DocumentedGuard | undefined }
  >;
  readonly controller?: {
    readonly schema?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
    readonly unknownKeywords?: string;
    readonly rawBody?: boolean;
  };
}

export interface DocumentedRoutes {
  readonly classes: readonly DocumentedClass[];
}

export interface DocumentOptions extends OpenApiInfo {
  /** How the application treats names that a method does not declare. Default "reject". */
  readonly unknownKeywords?: "reject" | "ignore";
  readonly versions?: DocumentedVersions;
  /** The version of OpenAPI. Default "3.1". */
  readonly spec?: Spec;
}

/** The verbs that a path item of OpenAPI 3.1 can have. Only OpenAPI 3.2 can document others. */
const METHODS: ReadonlySet<string> = new Set([
  "GET",
  "PUT",
  "POST",
  "DELETE",
  "OPTIONS",
  "HEAD",
  "PATCH",
  "TRACE",
]);

const SPECS: Readonly<Record<Spec, OpenApiDocument["openapi"]>> = { "3.1": "3.1.1", "3.2": "3.2.0" };

/**
 * The OpenAPI document of an application, made from its signatures. It has one path for each number of positional
 * arguments that a method takes.
 */
export function openApiDocument(routes: DocumentedRoutes, options: DocumentOptions): OpenApiDocument {
  const { title, version, description, unknownKeywords = "reject", spec = "3.1" } = options;
  const components = new Components({ ProblemDetails: PROBLEM_DETAILS });
  const paths = new Paths();
  const security = new SecuritySchemes();
  for (const route of routes.classes) {
    for (const [verb, { signature, guard }] of route.verbs) {
      if (!METHODS.has(verb) && spec !== "3.2") continue;
      const common = security.of(guard);
      const refusals = refusalsOf(guard);
      addMethod(paths, route, verb, signature, { components, unknownKeywords, spec, common, refusals });
    }
  }
  return {
    openapi: SPECS[spec],
    info: { title, version, ...(description && { description }) },
    paths: options.versions === undefined ? paths.items : withVersions(paths.items, options.versions),
    components: {
      schemas: components.schemas,
      responses: { Problem: PROBLEM_RESPONSE },
      ...security.all,
    },
  };
}

/** The paths of the document. Paths that differ only in parameter names are one path. */
class Paths {
  readonly items: Record<string, Record<string, Operation>> = {};
  readonly #byShape = new Map<string, { readonly path: string; readonly names: readonly string[] }>();
  readonly #operationIds = new Set<string>();

  /** The path with the parameter names of its first operation. */
  open(base: string, names: readonly string[]): { readonly path: string; readonly names: readonly string[] } {
    const shape = base + "/{}".repeat(names.length);
    let entry = this.#byShape.get(shape);
    if (!entry) {
      const unique = names.map((name, index) => (names.indexOf(name) < index ? `${name}${index + 1}` : name));
      entry = { path: base + unique.map((name) => `/{${name}}`).join("") || "/", names: unique };
      this.#byShape.set(shape, entry);
      this.items[entry.path] = {};
    }
    return entry;
  }

  /** Adds an operation, unless an earlier class has the same one. */
  add(path: string, verb: string, operationId: string, operation: (operationId: string) => Operation): void {
    const { operations, method } = this.#place(path, verb);
    if (Object.hasOwn(operations, method)) return;
    let unique = operationId;
    for (let count = 2; this.#operationIds.has(unique); count++) unique = `${operationId}${count}`;
    this.#operationIds.add(unique);
    operations[method] = operation(unique);
  }

  /** Verbs that have no field of their own are in a field for all others. */
  #place(path: string, verb: string): { operations: Record<string, Operation>; method: string } {
    const item = this.items[path]!;
    if (METHODS.has(verb) || verb === "QUERY") return { operations: item, method: verb.toLowerCase() };
    const all = item as unknown as { additionalOperations?: Record<string, Operation> };
    all.additionalOperations ??= {};
    return { operations: all.additionalOperations, method: verb };
  }
}

/** The context that all methods of a document share. */
interface MethodContext {
  readonly components: Components;
  readonly unknownKeywords: "reject" | "ignore";
  readonly spec: Spec;
  /** Parts of all operations of the method. */
  readonly common: Pick<Operation, "security">;
  /** The statuses of the refusals of its guard. */
  readonly refusals: readonly number[];
}

function addMethod(
  paths: Paths,
  route: DocumentedClass,
  verb: string,
  signature: MethodSignature,
  { components, unknownKeywords, spec, common, refusals }: MethodContext,
): void {
  const { schema } = route.controller ?? {};
  const closesObjects = (route.controller?.unknownKeywords ?? unknownKeywords) === "reject";
  const context: ParameterContext = {
    schemas: components.context(signature, closesObjects),
    lookup: (name) => standardJsonSchema(schema?.[verb]?.[name]),
  };
  const base = route.path === "/" ? "" : route.path;
  const request = route.controller?.rawBody === true ? rawRequestOf : requestOf;
  const { query, body, positionals } = request(verb, signature, context);
  for (const own of pathForms(positionals)) {
    const { path, names } = paths.open(
      base,
      own.map((parameter) => parameter.name),
    );
    const parameters = [
      ...own.map((parameter, index) => pathParameter(parameter, names[index]!, context)),
      ...query,
    ];
    paths.add(path, verb, operationName(verb, base, own), (operationId) => ({
      operationId,
      ...tagsOf(route),
      ...textOf(signature),
      ...(signature.deprecated && { deprecated: true }),
      ...(parameters.length > 0 && { parameters }),
      ...(body && { requestBody: body }),
      ...common,
      responses: responsesOf(signature, components.context(signature, false), spec, refusals),
    }));
  }
}

interface DocumentedRequest {
  readonly positionals: readonly Parameter[];
  readonly query: readonly OpenApiParameter[];
  readonly body: RequestBody | undefined;
}

const ANY_BODY: RequestBody = { required: false, content: { "*/*": {} } };

/** A class that reads all bodies itself has its arguments in path and query. */
function rawRequestOf(
  verb: string,
  signature: MethodSignature,
  context: ParameterContext,
): DocumentedRequest {
  const { parameters } = signature;
  const keywords = parameters.find(({ role }) => role === "keywords");
  return {
    positionals: parameters.filter(({ role }) => role !== "keywords"),
    query: keywords ? queryParameters(keywords, signature, context) : [],
    body: QUERY_VERBS.has(verb) ? undefined : ANY_BODY,
  };
}

function requestOf(verb: string, signature: MethodSignature, context: ParameterContext): DocumentedRequest {
  const { parameters } = signature;
  const keywords = parameters.find(({ role }) => role === "keywords");
  const positionals = parameters.filter(({ role }) => role !== "keywords");
  if (QUERY_VERBS.has(verb)) {
    return {
      positionals,
      query: keywords ? queryParameters(keywords, signature, context) : [],
      body: undefined,
    };
  }
  if (keywords) return { positionals, query: [], body: keywordBody(keywords, signature, context) };
  if (parameters.length === 0) {
    return { positionals, query: [], body: ANY_BODY };
  }
  // A JSON body that is not an object fills the argument `body`, and a list fills the only list.
  const last = positionals.at(-1)!;
  const isBody = last.name === "body" && last.role !== "rest";
  if (!isBody && listBodyParameter(signature) !== last) return namedBody(positionals, signature, context);
  return { positionals: positionals.slice(0, -1), query: [], body: valueBody(last, context) };
}

/** The objects and lists after the path's arguments, which a body fills by their names. */
function namedBody(
  positionals: readonly Parameter[],
  signature: MethodSignature,
  context: ParameterContext,
): DocumentedRequest {
  const isNamed = ({ role, type }: Parameter) => role === "positional" && isData(type, signature.definitions);
  const from = positionals.findLastIndex((parameter) => !isNamed(parameter)) + 1;
  const named = positionals.slice(from);
  const [first] = named;
  if (!first) return { positionals, query: [], body: undefined };
  const keywords: Parameter = {
    role: "keywords",
    name: "body",
    type: { kind: "object", properties: named },
    optional: named.every(({ optional }) => optional),
    location: first.location,
  };
  return {
    positionals: positionals.slice(0, from),
    query: [],
    body: keywordBody(keywords, signature, context),
  };
}

/** The parameter lists of a method's paths: all required parameters, then one more in each further path. */
function pathForms(positionals: readonly Parameter[]): Parameter[][] {
  const least = positionals.findLastIndex(({ optional }) => !optional) + 1;
  return Array.from({ length: positionals.length - least + 1 }, (_, more) =>
    positionals.slice(0, least + more),
  );
}

/** `getBooksById`: verb, path and parameters. */
function operationName(verb: string, base: string, own: readonly Parameter[]): string {
  const path = base.split("/").map(pascal).join("");
  const by = own.length > 0 ? `By${own.map(({ name }) => pascal(name)).join("And")}` : "";
  return verb.toLowerCase() + path + by;
}

function pascal(name: string): string {
  return name
    .split(/[^\p{L}\p{N}]+/u)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join("");
}

function tagsOf({ path }: DocumentedClass): { readonly tags?: readonly string[] } {
  const [, first] = path.split("/");
  return first ? { tags: [first] } : {};
}

/** The first line is the summary. A longer text is also the description. */
function textOf({ description }: MethodSignature): {
  readonly summary?: string;
  readonly description?: string;
} {
  if (!description) return {};
  const [summary = "", ...more] = description.split("\n");
  return more.length > 0 ? { summary, description } : { summary };
}

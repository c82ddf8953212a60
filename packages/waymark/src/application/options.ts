import type { Controller, ControllerClass } from "../controller/controller.ts";
import type { Exchange } from "../controller/exchange.ts";
import type { Part } from "../controller/part.ts";
import { type CorsOptions, checkCors } from "../http/cors.ts";
import type { TrustProxy } from "../http/proxy.ts";
import { checkUnknownKeywords } from "../routing/check-routes.ts";
import type { Manifest } from "../routing/manifest.ts";
import { StartError } from "../routing/start-error.ts";
import type { ServerLimits } from "../serve/server-limits.ts";
import type { VersionsOptions } from "./versions.ts";

/** Classes by export name, submodules by segment: the form of a module namespace. */
export interface ControllerTable {
  readonly [name: string]: ControllerClass | ControllerTable | unknown;
}

/** The request whose error became a 500. */
export interface ErrorContext {
  /** The HTTP method of the request. */
  readonly method: string;
  /** The path with its query, as sent. It can contain secrets. */
  readonly target: string;
}

/** Options of an `Application`. All are optional. */
export interface ApplicationOptions {
  /**
   * Dotted module path or paths of the controllers. Default: the environment variable `FRAMEWORK_PREFIX` (several
   * paths separated by commas), else `controllers`.
   */
  controllerPrefix?: string | readonly string[];
  /** The same in snake case. */
  controller_prefix?: string | readonly string[];
  /** The directory that prefixes are relative to. Default: the working directory. */
  directory?: string;
  /** The controllers themselves, instead of a prefix to search. */
  controllers?: ControllerTable;
  /** The output of `waymark build`. The start then reads neither folders nor sources. */
  manifest?: Manifest;
  /** Largest body, in bytes. Default 1 MiB. */
  bodyLimit?: number;
  /** Largest `multipart/form-data` body, in bytes. Default 10 MiB. */
  multipartLimit?: number;
  /** Treatment of keyword arguments that a method does not declare. Default "reject": 400. */
  unknownKeywords?: "reject" | "ignore";
  /** Methods that get 405 instead of 501 even if no controller serves them. Default: none. */
  knownMethods?: readonly string[];
  /** Treatment of a type that cannot be read. Default "error": startup fails. */
  unreadableTypes?: "error" | "raw";
  /** Sends only the properties that a method's written return type declares. Default true. */
  projection?: boolean;
  /** Allows scripts of other origins to call this application. Default: off. */
  cors?: CorsOptions;
  /** Trust in `X-Forwarded-*` headers: a boolean, or the number of trusted proxies. Default false. */
  trustProxy?: TrustProxy;
  /** Versions that a client asks for with `Accept: application/json; version=v2`. Default: only those in paths. */
  versions?: VersionsOptions;
  /** Serves the OpenAPI document at `/openapi.json` and its page at `/docs`. Default false. */
  openapi?: boolean | OpenApiOptions;
  /** Timeouts and sizes of the built-in server. */
  server?: ServerLimits;
  /** Includes errors and their stacks in 500 answers. Default false. */
  debug?: boolean;
  /** Runs before every controller's own `before()`. If it returns or throws a `Response`, that is the answer. */
  before?(controller: Controller): unknown;
  /** Runs after every controller's own `after()`. */
  after?(response: Response, controller: Controller): unknown;
  /** Runs on every error, including 404 and 405. May return a `Response` to send instead. */
  onError?(error: unknown, controller: Controller | undefined): unknown;
  /** Runs on every request before it is routed. If it returns or throws a `Response`, that is the answer. */
  onRequest?(exchange: Exchange): unknown;
  /** Runs on every answer, errors and 404 included, before anything of it is sent. May change its headers. */
  onAnswer?(exchange: Exchange): unknown;
  /** Runs once for every request, when the body of its answer was passed to the server, or was given up. */
  onEnd?(exchange: Exchange): unknown;
  /** Parts of `@tollway/waymark/kit`, or your own: the same hooks as values. Earlier parts surround later ones. */
  use?: readonly Part[];
  /** Runs before the first request is served. */
  onStart?(): unknown;
  /** Runs when the built-in server is told to stop, while it still accepts requests. The stop waits for it. */
  onDrain?(): unknown;
  /** Runs after the last request has been answered. */
  onStop?(): unknown;
  /** Logs errors that became a 500. Default: standard error. */
  log?(error: unknown, context: ErrorContext): void;
  /** Logs warnings at startup. Default: standard error. */
  warn?(message: string): void;
}

/** The OpenAPI document that an application serves. */
export interface OpenApiOptions {
  /** Title of the API. Default: `name` of the nearest `package.json`, else `API`. */
  title?: string;
  /** Version of the API. Default: `version` of the nearest `package.json`, else `0.0.0`. */
  version?: string;
  /** Description of the API, in Markdown. Default: none. */
  description?: string;
  /** Path of the document. Default `/openapi.json`. */
  path?: string;
  /** Path of the page. False: no page. Default `/docs`. */
  page?: string | false;
  /** The version of OpenAPI. 3.2 also documents QUERY, other verbs and the items of streams. Default "3.1". */
  spec?: "3.1" | "3.2";
}

const KNOWN: ReadonlySet<string> = new Set([
  "controllerPrefix",
  "controller_prefix",
  "directory",
  "controllers",
  "manifest",
  "bodyLimit",
  "multipartLimit",
  "unknownKeywords",
  "knownMethods",
  "unreadableTypes",
  "projection",
  "cors",
  "trustProxy",
  "versions",
  "openapi",
  "server",
  "debug",
  "before",
  "after",
  "onError",
  "onRequest",
  "onAnswer",
  "onEnd",
  "use",
  "onStart",
  "onDrain",
  "onStop",
  "log",
  "warn",
] satisfies (keyof ApplicationOptions)[]);

/** Rejects options that a type checker would reject. */
export function checkOptions(options: ApplicationOptions): void {
  for (const name of Object.keys(options)) {
    if (!KNOWN.has(name)) throw new StartError("INVALID_OPTION", `Application has no option "${name}"`);
  }
  for (const name of ["bodyLimit", "multipartLimit"] as const) {
    const value = options[name];
    if (value !== undefined && !(typeof value === "number" && value >= 0))
      throw new StartError("INVALID_OPTION", `${name} must be a number of bytes, not ${String(value)}`);
  }
  checkUnknownKeywords(options.unknownKeywords);
  const given = (["controllers", "manifest"] as const).filter((name) => options[name] !== undefined);
  if (options.controllerPrefix !== undefined || options.controller_prefix !== undefined)
    given.push("controllerPrefix" as never);
  if (given.length > 1)
    throw new StartError("INVALID_OPTION", `${given.join(" and ")} exclude each other: give only one`);
  if (options.cors !== undefined) checkCors(options.cors);
  if (options.use !== undefined) checkParts(options.use);
  const spec: unknown = typeof options.openapi === "object" ? options.openapi.spec : undefined;
  if (spec !== undefined && spec !== "3.1" && spec !== "3.2")
    throw new StartError("INVALID_OPTION", `openapi.spec must be "3.1" or "3.2", not ${String(spec)}`);
  const names: unknown = options.versions?.names;
  if (options.versions !== undefined && !(Array.isArray(names) && names.length > 0))
    throw new StartError("INVALID_OPTION", 'versions.names must be a list of modules, such as ["v1", "v2"]');
}

const HOOKS: ReadonlySet<string> = new Set([
  "onRequest",
  "around",
  "onAnswer",
  "onEnd",
  "onStop",
] satisfies (keyof Part)[]);

/** A function in place of its result, or a list in a list, is a common mistake. */
function checkParts(use: readonly Part[]): void {
  if (!Array.isArray(use))
    throw new StartError("INVALID_OPTION", "use must be a list of parts: use: [requestId()]");
  for (const [at, part] of use.entries()) {
    const isPart =
      typeof part === "object" && part !== null && Object.keys(part).some((name) => HOOKS.has(name));
    if (!isPart)
      throw new StartError(
        "INVALID_OPTION",
        `use[${at}] is not a part: a part is an object with ${[...HOOKS].join(", ")}, such as the result of requestId()`,
      );
  }
}

/** The parts that observe requests. The application's own hooks surround those of `use`. */
export function partsOf(options: ApplicationOptions): readonly Part[] {
  const { onRequest, onAnswer, onEnd, use = [] } = options;
  const own: Part = {
    ...(onRequest !== undefined && { onRequest: (exchange) => options.onRequest!(exchange) }),
    ...(onAnswer !== undefined && { onAnswer: (exchange) => options.onAnswer!(exchange) }),
    ...(onEnd !== undefined && { onEnd: (exchange) => options.onEnd!(exchange) }),
  };
  return [own, ...use];
}

/** The prefixes from these options and the environment. */
export function prefixesOf(options: ApplicationOptions, environment: string | undefined): string[] {
  const own = options.controllerPrefix ?? options.controller_prefix;
  const listed = typeof own === "string" ? [own] : own;
  const asked = listed ?? environment?.split(",");
  const prefixes = asked?.map((prefix) => prefix.trim()).filter((prefix) => prefix !== "") ?? [];
  return prefixes.length > 0 ? [...new Set(prefixes)] : ["controllers"];
}

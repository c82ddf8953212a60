import type { Controller, ControllerClass } from "../controller/controller.ts";
import { type CorsOptions, checkCors } from "../http/cors.ts";
import type { TrustProxy } from "../http/proxy.ts";
import type { Manifest } from "../routing/manifest.ts";
import { StartError } from "../routing/start-error.ts";
import type { ServerLimits } from "../serve/server-limits.ts";

/** Classes by export name, submodules by their segment: what a module namespace looks like. */
export interface ControllerTable {
  readonly [name: string]: ControllerClass | ControllerTable | unknown;
}

/** What is told of an error that became a 500. */
export interface ErrorContext {
  readonly method: string;
  readonly target: string;
}

/** Options of an `Application`. Every one has a default. */
export interface ApplicationOptions {
  /**
   * Dotted module path or paths under which the controllers are. Default: `FRAMEWORK_PREFIX` of the environment
   * (commas between several), else `controllers`.
   */
  controllerPrefix?: string | readonly string[];
  /** The same, in the contract's spelling. */
  controller_prefix?: string | readonly string[];
  /** The directory that prefixes resolve from. Default: the working directory. */
  directory?: string;
  /** Controllers given as they are, instead of found under a prefix. */
  controllers?: ControllerTable;
  /** What `waymark build` wrote, instead of looking for modules and reading their source. */
  manifest?: Manifest;
  /** Largest body, in bytes. Default 1 MiB. */
  bodyLimit?: number;
  /** Largest `multipart/form-data` body, in bytes. Default 10 MiB. */
  multipartLimit?: number;
  /** What becomes of keyword arguments that a method does not name. Default "reject": 400. */
  unknownKeywords?: "reject" | "ignore";
  /** Methods that get 405 instead of 501 although no controller serves them. Default none. */
  knownMethods?: readonly string[];
  /** What becomes of a type that cannot be read. Default "error": the start fails. */
  unreadableTypes?: "error" | "raw";
  /** Lets scripts of other origins call this application. Default: off. */
  cors?: CorsOptions;
  /** Whether `X-Forwarded-*` headers count, or those of how many proxies. Default false. */
  trustProxy?: TrustProxy;
  /** Serves the OpenAPI document at `/openapi.json` and a page that shows it at `/docs`. Default false. */
  openapi?: boolean | OpenApiOptions;
  /** Time-outs and sizes of the built-in server. */
  server?: ServerLimits;
  /** Shows errors with their stacks in 500 answers. Default false. */
  debug?: boolean;
  /** Runs before every controller's own `before()`. Returning or throwing a `Response` answers at once. */
  before?(controller: Controller): unknown;
  /** Runs after every controller's own `after()`. */
  after?(response: Response, controller: Controller): unknown;
  /** Hears of every error, 404 and 405 too; may return a `Response` to send instead. */
  onError?(error: unknown, controller: Controller | undefined): unknown;
  /** Runs before the first request is served. */
  onStart?(): unknown;
  /** Runs after the last request has been answered. */
  onStop?(): unknown;
  /** Where errors that became a 500 go. Default: standard error. */
  log?(error: unknown, context: ErrorContext): void;
  /** Where warnings of the start go. Default: standard error. */
  warn?(message: string): void;
}

export interface OpenApiOptions {
  title?: string;
  version?: string;
  description?: string;
  /** Path of the document. Default `/openapi.json`. */
  path?: string;
  /** Path of the page that shows it; false for none. Default `/docs`. */
  page?: string | false;
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
  "cors",
  "trustProxy",
  "openapi",
  "server",
  "debug",
  "before",
  "after",
  "onError",
  "onStart",
  "onStop",
  "log",
  "warn",
] satisfies (keyof ApplicationOptions)[]);

/** Refuses what a type checker would have refused. */
export function checkOptions(options: ApplicationOptions): void {
  for (const name of Object.keys(options)) {
    if (!KNOWN.has(name)) throw new StartError("INVALID_OPTION", `Application has no option "${name}"`);
  }
  for (const name of ["bodyLimit", "multipartLimit"] as const) {
    const value = options[name];
    if (value !== undefined && !(typeof value === "number" && value >= 0))
      throw new StartError("INVALID_OPTION", `${name} is a number of bytes, not ${String(value)}`);
  }
  const given = (["controllers", "manifest"] as const).filter((name) => options[name] !== undefined);
  if (options.controllerPrefix !== undefined || options.controller_prefix !== undefined)
    given.push("controllerPrefix" as never);
  if (given.length > 1)
    throw new StartError("INVALID_OPTION", `${given.join(" and ")} exclude each other: say one of them`);
  if (options.cors !== undefined) checkCors(options.cors);
}

/** The prefixes that these options and the environment ask for. */
export function prefixesOf(options: ApplicationOptions, environment: string | undefined): string[] {
  const own = options.controllerPrefix ?? options.controller_prefix;
  const listed = typeof own === "string" ? [own] : own;
  const asked = listed ?? environment?.split(",");
  const prefixes = asked?.map((prefix) => prefix.trim()).filter((prefix) => prefix !== "") ?? [];
  return prefixes.length > 0 ? [...new Set(prefixes)] : ["controllers"];
}

import type { Answer, EventData, ReceivedEvent, Result } from "./answers.ts";
import type { CallOptions } from "./options.ts";
import type { PropertyOfClass } from "./segment.ts";

/**
 * The client of an API. `Api` is a tree of modules. The key of a submodule is its path segment with `_` for `-`, the
 * key `""` is `typeof import("./books.ts")`, the module's own file. A tree of plain functions by verb is an API, too.
 */
export type Client<Api, Revive extends boolean = false> = {
  readonly [Key in keyof Api as Key extends "" ? never : Key]: Api[Key] extends AnyMethod
    ? Call<Api[Key], Revive>
    : Client<Api[Key], Revive>;
} & (Api extends { readonly "": infer Module }
  ? ClassesOf<Module, Exclude<keyof Api, "">, Revive> & FallbackOf<Module, Exclude<keyof Api, "">, Revive>
  : unknown);

/** A verb of a class. */
export interface Call<Method, Revive extends boolean = false> {
  /** Calls the method. Rejects with a `ProblemError` for any response but 2xx. */
  (...args: Arguments<Method>): Promise<Answer<Returned<Method>, Revive>>;
  /** Calls the method. Resolves with the status and either data or problem details. */
  safe(...args: Arguments<Method>): Promise<Result<Returned<Method>, Revive>>;
  /** Calls the method. Resolves with the response itself, whatever its status. */
  response(...args: Arguments<Method>): Promise<Response>;
  /** Calls the method. Resolves with the server-sent events of its stream: data, name and id. */
  events(
    ...args: Arguments<Method>
  ): Promise<AsyncIterable<ReceivedEvent<EventData<Returned<Method>, Revive>>>>;
  /** The same call with further headers, a signal, a body, or other retries. */
  with(options: CallOptions): Call<Method, Revive>;
}

type AnyMethod = (...args: never) => unknown;

/** The members of a controller by which it differs from any other class. */
interface AnyController {
  readonly positionals: readonly string[];
  readonly keywords: object;
  redirect: AnyMethod;
}
type AnyControllerClass = new (...args: never) => AnyController;

/** The classes of a module. A submodule of the same name wins. */
type ClassesOf<Module, Taken, Revive extends boolean> = {
  readonly [Name in keyof Module as Exclude<PropertyOf<Name, Module[Name]>, Taken>]: ClassNode<
    Module[Name],
    Revive
  >;
};

/** The fallback class of a module: its verbs are the module's own. */
type FallbackOf<Module, Taken, Revive extends boolean> = Module extends
  | { readonly Default: infer Fallback }
  | { readonly default: infer Fallback }
  ? Fallback extends AnyControllerClass
    ? Verbs<InstanceType<Fallback>, Revive> & ClassesOf<Fallback, Taken, Revive>
    : unknown
  : unknown;

/** A class: its verbs, and the controllers among its static members. */
type ClassNode<Class, Revive extends boolean> = Class extends new (
  ...args: never
) => infer Instance
  ? Verbs<Instance, Revive> & ClassesOf<Class, never, Revive>
  : never;

type Verbs<Instance, Revive extends boolean> = {
  readonly [Verb in keyof Instance as Verb extends Uppercase<Verb & string> ? Verb : never]: Call<
    Instance[Verb],
    Revive
  >;
};

/** The property of an exported class, or never for any other export. */
type PropertyOf<Name, Class> = Name extends string
  ? Class extends AnyControllerClass
    ? Name extends "Default" | "default" | "prototype" | `_${string}` | `${string}Controller`
      ? never
      : PropertyOfClass<Name>
    : never
  : never;

type Returned<Method> = Method extends (...args: never) => infer Value ? Awaited<Value> : never;

type Arguments<Method> = Method extends (...args: infer Args) => unknown ? Omittable<Args> : never;

/** The last arguments may be absent if they may be undefined, or are keywords that may all be absent. */
type Omittable<Args extends readonly unknown[]> = Args extends readonly [...infer Before, infer Last]
  ? [Extract<undefined | Record<never, never>, Last>] extends [never]
    ? Args
    : Args extends readonly [...Before, ...infer Named]
      ? [...Omittable<Before>, ...Partial<Named>]
      : Args
  : Args;

import type { ControllerClass } from "../controller/controller.ts";
import type { BodyRules } from "../http/body-kind.ts";
import type { CallSettings } from "../http/call.ts";
import type { Binder } from "../signature/bind/binder.ts";
import type { MethodSignature } from "../signature/model/signature.ts";

/** A method of a controller, ready to be called. */
export interface RouteVerb {
  readonly verb: string;
  readonly method: (...args: never[]) => unknown;
  readonly signature: MethodSignature;
  readonly binder: Binder;
}

/** A class as the tree holds it. */
export interface RouteClass {
  /** The export's name, with the static members that lead to it: `Foo.Bar`. */
  readonly name: string;
  /** The dotted module that it was found in. */
  readonly module: string;
  /** The path that leads to it: `/users/foo/bar`, `/` for the root's `Default`. */
  readonly path: string;
  readonly controller: ControllerClass;
  readonly members: Map<string, RouteClass>;
  readonly verbs: Map<string, RouteVerb>;
  /** Every verb that it answers to, for `Allow`. */
  readonly allow: string;
  /** Which hooks it has of its own, so that a class without them pays nothing. */
  readonly hooks: { readonly before: boolean; readonly after: boolean; readonly onError: boolean };
  readonly body: BodyRules;
  readonly settings: CallSettings;
}

export interface RouteModule {
  readonly name: string;
  readonly children: Map<string, RouteModule>;
  readonly classes: Map<string, RouteClass>;
  readonly fallback: RouteClass | undefined;
}

/** All that can be reached: one tree for each prefix, in the order given. */
export interface Routes {
  readonly roots: readonly RouteModule[];
  /** Every class, in the order of discovery. */
  readonly classes: readonly RouteClass[];
  /** Every verb that some class has, with HEAD and OPTIONS where they are answered; others are 501. */
  readonly verbs: ReadonlySet<string>;
  /** What a reader of the start's output should know: skipped classes, paths that a module took from a class. */
  readonly notes: readonly string[];
}

import type { ControllerClass, Guard } from "../controller/controller.ts";
import type { BodyRules } from "../http/body-kind.ts";
import type { CallSettings } from "../http/call.ts";
import type { Binder } from "../signature/bind/binder.ts";
import type { MethodSignature } from "../signature/model/signature.ts";
import type { Projection } from "../signature/project/projection-context.ts";

/** A callable method of a controller. */
export interface RouteVerb {
  readonly verb: string;
  readonly method: (...args: never[]) => unknown;
  readonly signature: MethodSignature;
  /** Undefined if everybody may call the method. */
  readonly guard: Guard | undefined;
  readonly binder: Binder;
  /** Removes what the written return type does not declare. Undefined if nothing is to be removed. */
  readonly project: Projection | undefined;
}

/** A class in the route tree. */
export interface RouteClass {
  /** The export's name with the static members that lead to the class: `Foo.Bar`. */
  readonly name: string;
  /** The dotted name of its module. */
  readonly module: string;
  /** The path of the class: `/users/foo/bar`. `/` for the root's `Default`. */
  readonly path: string;
  readonly controller: ControllerClass;
  readonly members: Map<string, RouteClass>;
  readonly verbs: Map<string, RouteVerb>;
  /** Every verb of the class, for `Allow`. */
  readonly allow: string;
  /** The hooks that the class overrides. A class without hooks takes the fast path. */
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

/** All routes: one tree for each prefix, in order. */
export interface Routes {
  readonly roots: readonly RouteModule[];
  /** Every class, in the order of discovery. */
  readonly classes: readonly RouteClass[];
  /** Every verb of any class, including the implied HEAD and OPTIONS. Other methods get 501. */
  readonly verbs: ReadonlySet<string>;
  /** Notes for the output at startup: skipped classes, paths where a module hides a class. */
  readonly notes: readonly string[];
  /** The files that the signatures come from. A package.json represents a package. Empty with a manifest. */
  readonly origins: readonly string[];
}

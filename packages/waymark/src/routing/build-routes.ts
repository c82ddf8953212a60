import { type ControllerClass, isControllerBase } from "../controller/controller.ts";
import type { BodyRules } from "../http/body-kind.ts";
import type { CallSettings } from "../http/call.ts";
import { type BinderOptions, compileBinder } from "../signature/bind/binder.ts";
import type { SchemaTable } from "../signature/bind/standard-schema.ts";
import type { MethodSignature } from "../signature/model/signature.ts";
import { compileProjection } from "../signature/project/projection.ts";
import { withImplied } from "./allow.ts";
import { checkSchema, checkUnknownKeywords, claim, hide } from "./check-routes.ts";
import type { FoundClass } from "./classes.ts";
import { guardFor } from "./guard-for.ts";
import type { RouteClass, RouteModule, Routes, RouteVerb } from "./routes.ts";

/** A module with its classes, before it becomes part of the tree. */
export interface ModuleEntry {
  readonly name: string;
  readonly segment: string;
  readonly classes: readonly FoundClass[];
  readonly children: readonly ModuleEntry[];
}

/** The application's settings for classes without their own. */
export interface RouteDefaults {
  readonly body: BodyRules;
  readonly call: Omit<CallSettings, "body">;
  readonly unknownKeywords: "reject" | "ignore";
  readonly projection: boolean;
}

export type SignatureOf = (found: FoundClass, verb: string) => MethodSignature;

/** Builds the route trees. */
export function buildRoutes(
  roots: readonly ModuleEntry[],
  signatureOf: SignatureOf,
  defaults: RouteDefaults,
  notes: string[],
  origins: readonly string[] = [],
): Routes {
  const classes: RouteClass[] = [];
  const build = (entry: ModuleEntry, path: string): RouteModule => {
    const children = new Map<string, RouteModule>();
    const own = new Map<string, RouteClass>();
    let fallback: RouteClass | undefined;
    for (const found of entry.classes) {
      if (found.name === "Default") {
        fallback = routeClass(found, entry.name, path || "/");
        // A member class of the fallback adds a segment to the fallback's own path.
        for (const [segment, member] of fallback.members) claim(own, segment, member, entry.name);
      } else claim(own, found.segment, routeClass(found, entry.name, `${path}/${found.segment}`), entry.name);
    }
    for (const child of entry.children) {
      hide(own, child.segment, classes, (taken) => {
        notes.push(
          `${path}/${child.segment}: the module ${child.name} hides the class ${taken} of ${entry.name}`,
        );
      });
      children.set(child.segment, build(child, `${path}/${child.segment}`));
    }
    return { name: entry.name, children, classes: own, fallback };
  };
  const routeClass = (found: FoundClass, module: string, path: string): RouteClass => {
    const verbs = new Map<string, RouteVerb>();
    const { controller } = found;
    const options = binderOptions(controller, defaults);
    checkSchema(found, module);
    const members = new Map<string, RouteClass>();
    const body = bodyRules(controller, defaults.body);
    const route: RouteClass = {
      name: found.name,
      module,
      path,
      controller,
      members,
      verbs,
      allow: withImplied(found.verbs.keys()).join(", "),
      hooks: {
        before: overrides(controller, "before"),
        after: overrides(controller, "after"),
        onError: overrides(controller, "onError"),
      },
      body,
      settings: { ...defaults.call, body },
    };
    classes.push(route);
    for (const [verb, method] of found.verbs) {
      const signature = signatureOf(found, verb);
      const schemas = controller.schema?.[verb] as SchemaTable | undefined;
      const binder = compileBinder(signature, { ...options, schemas });
      const project = defaults.projection ? compileProjection(signature) : undefined;
      verbs.set(verb, { verb, method, signature, guard: guardFor(found, verb, module), binder, project });
    }
    for (const member of found.members) {
      const step = path === "/" ? "" : path;
      members.set(member.segment, routeClass(member, module, `${step}/${member.segment}`));
    }
    return route;
  };
  const trees = roots.map((root) => build(root, ""));
  return { roots: trees, classes, verbs: knownVerbs(classes), notes, origins };
}

function binderOptions(controller: ControllerClass, defaults: RouteDefaults): BinderOptions {
  checkUnknownKeywords(controller.unknownKeywords);
  return { unknownKeywords: controller.unknownKeywords ?? defaults.unknownKeywords };
}

function bodyRules(controller: ControllerClass, defaults: BodyRules): BodyRules {
  const { bodyLimit, alwaysJson, rawBody } = controller;
  if (bodyLimit === undefined && alwaysJson === undefined && rawBody === undefined) return defaults;
  return {
    bodyLimit: bodyLimit ?? defaults.bodyLimit,
    multipartLimit: bodyLimit ?? defaults.multipartLimit,
    alwaysJson: alwaysJson ?? defaults.alwaysJson,
    rawBody: rawBody ?? defaults.rawBody,
  };
}

function knownVerbs(classes: readonly RouteClass[]): Set<string> {
  return new Set(["OPTIONS", ...classes.flatMap(({ allow }) => allow.split(", "))].sort());
}

/** True if a class, or a class between it and `Controller`, overrides a hook. */
function overrides(controller: ControllerClass, hook: "before" | "after" | "onError"): boolean {
  let prototype: object | null = controller.prototype;
  while (prototype !== null && !isControllerBase(prototype.constructor)) {
    if (Object.hasOwn(prototype, hook)) return true;
    prototype = Object.getPrototypeOf(prototype);
  }
  return false;
}

import type { FoundClass } from "./classes.ts";
import type { RouteClass } from "./routes.ts";
import { StartError } from "./start-error.ts";

/** Adds a class to those of its module. Fails if another class has its path. */
export function claim(
  own: Map<string, RouteClass>,
  segment: string,
  route: RouteClass,
  module: string,
): void {
  const twin = own.get(segment);
  if (twin !== undefined)
    throw new StartError(
      "AMBIGUOUS_ROUTE",
      `${module}: ${twin.name} and ${route.name} both have the path ${route.path}`,
    );
  own.set(segment, route);
}

/** Removes the class of a module whose path a submodule has. */
export function hide(
  own: Map<string, RouteClass>,
  segment: string,
  classes: RouteClass[],
  note: (name: string) => void,
): void {
  const taken = own.get(segment);
  if (taken === undefined) return;
  note(taken.name);
  own.delete(segment);
  drop(taken, classes);
}

function drop(route: RouteClass, classes: RouteClass[]): void {
  classes.splice(classes.indexOf(route), 1);
  for (const member of route.members.values()) drop(member, classes);
}

/** Fails if a schema is for a verb that the class lacks. */
export function checkSchema({ controller, name, verbs }: FoundClass, module: string): void {
  for (const verb of Object.keys(controller.schema ?? {})) {
    if (!verbs.has(verb))
      throw new StartError(
        "INVALID_OPTION",
        `${module}: class ${name}: static schema names ${verb}, but the class has no such method`,
      );
  }
}

/** Fails for a value that a type checker would reject. */
export function checkUnknownKeywords(value: unknown): void {
  if (value !== undefined && value !== "reject" && value !== "ignore")
    throw new StartError("INVALID_OPTION", `unknownKeywords is "reject" or "ignore", not ${String(value)}`);
}

import type { Guard } from "../controller/controller.ts";
import { guardOf } from "../controller/guard.ts";
import type { FoundClass } from "./classes.ts";
import { StartError } from "./start-error.ts";

/** The guard of a verb. A verb that the guards do not name is an error, not a public verb. */
export function guardFor({ controller, name }: FoundClass, verb: string, module: string): Guard | undefined {
  const guard = guardOf(controller.guard, verb);
  if (guard === null)
    throw new StartError(
      "INVALID_OPTION",
      `${module}: class ${name}: static guard must name ${verb}, with a guard or "public"`,
    );
  return guard;
}

import type { ModuleEntry, SignatureOf } from "../routing/build-routes.ts";
import type { Routes } from "../routing/routes.ts";
import type { ApplicationOptions } from "./options.ts";
import type { Platform } from "./platform.ts";

/** The parts from which an application's own controllers are built. */
interface Found {
  readonly roots: readonly ModuleEntry[];
  readonly signatureOf: SignatureOf;
  readonly notes: string[];
  readonly build: (roots: readonly ModuleEntry[], signatureOf: SignatureOf) => Routes;
}

/** The routes of an application, with the pages of its OpenAPI document. */
export async function documentedRoutes(
  options: ApplicationOptions,
  platform: Platform,
  { roots, signatureOf, notes, build }: Found,
): Promise<Routes> {
  // Loaded on demand: most applications do not serve the document.
  const { openApiPages, withPages } = await import("./openapi-pages.ts");
  const pages = openApiPages(options, platform, notes)!;
  const own = new Set(pages.classes);
  const routes = build(withPages(roots, pages), (found, verb) =>
    (own.has(found) ? pages : { signatureOf }).signatureOf(found, verb),
  );
  pages.describe(routes);
  return routes;
}

import type { BodyRules } from "../http/body-kind.ts";
import { EventStreams } from "../http/event-streams.ts";
import { buildRoutes, type ModuleEntry, type SignatureOf } from "../routing/build-routes.ts";
import type { Routes } from "../routing/routes.ts";
import { documentedRoutes } from "./documented-routes.ts";
import type { ApplicationOptions } from "./options.ts";
import { collectKeywords } from "./parsed-body.ts";
import type { CompilerAsks, Platform } from "./platform.ts";
import { checkVersions } from "./versions.ts";

const MEBIBYTE = 1024 * 1024;

export function bodyDefaults(options: ApplicationOptions): BodyRules {
  return {
    bodyLimit: options.bodyLimit ?? MEBIBYTE,
    multipartLimit: options.multipartLimit ?? Math.max(10 * MEBIBYTE, options.bodyLimit ?? 0),
    alwaysJson: false,
    rawBody: false,
  };
}

/** Finds, loads and reads all controllers of an application. */
export async function loadRoutes(
  options: ApplicationOptions,
  platform: Platform,
  events: EventStreams = new EventStreams(),
  asks: CompilerAsks = {},
): Promise<Routes> {
  const notes: string[] = [];
  const origins: string[] = [];
  const { roots, signatureOf } = await platform.gather(options, {
    notes,
    origins,
    verify: asks.verify ?? false,
    // Without a document, nothing reads an inferred type, and a start saves the time of the compiler.
    infer: asks.infer ?? wantsOpenApi(options),
  });
  const { parseMultipart } = platform;
  const defaults = {
    body: bodyDefaults(options),
    call: { trustProxy: options.trustProxy ?? false, collect: collectKeywords, events, parseMultipart },
    unknownKeywords: options.unknownKeywords ?? "reject",
    projection: options.projection ?? true,
  } as const;
  const build = (entries: readonly ModuleEntry[], signaturesOf: SignatureOf): Routes => {
    const routes = buildRoutes(entries, signaturesOf, defaults, notes, origins);
    if (options.versions !== undefined) checkVersions(options.versions, routes.roots);
    return routes;
  };
  if (!wantsOpenApi(options)) return build(roots, signatureOf);
  return documentedRoutes(options, platform, { roots, signatureOf, notes, build });
}

function wantsOpenApi({ openapi }: ApplicationOptions): boolean {
  return openapi !== undefined && openapi !== false;
}

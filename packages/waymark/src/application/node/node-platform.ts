import { readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseMultipart } from "../../http/node/multipart.ts";
import { manifestEntries } from "../../routing/manifest.ts";
import { refuseStale } from "../../routing/stale-manifest.ts";
import { StartError } from "../../routing/start-error.ts";
import type { ApplicationOptions } from "../options.ts";
import type { Gathered, Gathering, Platform } from "../platform.ts";
import { webPlatform } from "../web-platform.ts";

/** Node: reads controllers and their sources from files, and forms with a parser that has limits for everything. */
export const nodePlatform: Platform = { gather, parseMultipart, describePackage, openViewer };

async function gather(options: ApplicationOptions, gathering: Gathering): Promise<Gathered> {
  if (options.manifest !== undefined) {
    refuseStale(options.manifest);
    return manifestEntries(options.manifest, gathering.notes);
  }
  if (!isNode()) return webPlatform.gather(options, gathering);
  // Loaded on demand: a start from a manifest needs none of it, and other runtimes cannot load it.
  const { gatherSources } = await import("./source-routes.ts");
  return gatherSources(options, gathering);
}

/** Bun and Deno have Node's modules, but not the parts that find a method's source. */
function isNode(): boolean {
  return !("Bun" in globalThis || "Deno" in globalThis);
}

function describePackage(directory = "."): { name?: string; version?: string } {
  try {
    return JSON.parse(readFileSync(join(resolve(directory), "package.json"), "utf8"));
  } catch {
    return {};
  }
}

/** The files of Swagger UI, an optional peer dependency. */
function openViewer() {
  let folder: string;
  try {
    folder = join(dirname(fileURLToPath(import.meta.resolve("@fastify/swagger-ui"))), "static");
  } catch {
    throw new StartError(
      "INVALID_OPTION",
      'the page of the OpenAPI document requires a viewer: run "npm install @fastify/swagger-ui"',
    );
  }
  return (name: string) => readFileSync(join(folder, name));
}

import { writeFileSync } from "node:fs";
import { nodePlatform } from "../application/node/node-platform.ts";
import { documentOf } from "../application/openapi-pages.ts";
import type { ApplicationOptions } from "../application/options.ts";
import { isOpenApiPage } from "../routing/added-pages.ts";
import type { Arguments } from "./arguments.ts";
import { applicationOf } from "./load-application.ts";

/** Prints the OpenAPI document, or writes it to a file. */
export async function openapi(args: Arguments): Promise<number> {
  const application = await applicationOf(args);
  const routes = await application.describe();
  const described = routes.classes.filter((route) => !isOpenApiPage(route));
  const { openapi: own } = application.options;
  const options: ApplicationOptions =
    args.spec === undefined
      ? application.options
      : { ...application.options, openapi: { ...(typeof own === "object" && own), spec: args.spec } };
  const document = documentOf({ classes: described }, options, nodePlatform);
  const text = `${JSON.stringify(document, null, 2)}\n`;
  if (args.out === undefined) process.stdout.write(text);
  else {
    writeFileSync(args.out, text);
    console.error(`wrote ${args.out}`);
  }
  return 0;
}

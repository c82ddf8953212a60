import { existsSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { formatRoutes, routeLines } from "../routing/describe.ts";
import type { Arguments } from "./arguments.ts";
import { LauncherError } from "./launcher-error.ts";
import { applicationOf } from "./load-application.ts";

/** Prints the table of routes. With `--check`, fails if it differs from a reviewed table. Ignores line numbers. */
export async function routes(args: Arguments): Promise<number> {
  const application = await applicationOf(args);
  const loaded = await application.load();
  const text = formatRoutes(routeLines(loaded, resolve(args.dir)));
  if (args.check === undefined) {
    process.stdout.write(text);
    for (const note of loaded.notes) console.error(`note: ${note}`);
    return 0;
  }
  if (!existsSync(args.check))
    throw new LauncherError(
      `--check=${args.check}: the file does not exist: create it with "waymark routes > ${args.check}"`,
      2,
    );
  const reviewed = reviewable(readFileSync(args.check, "utf8"));
  const current = reviewable(text);
  const added = current.filter((line) => !reviewed.includes(line));
  const gone = reviewed.filter((line) => !current.includes(line));
  for (const line of gone) console.error(`- ${line}`);
  for (const line of added) console.error(`+ ${line}`);
  if (added.length + gone.length === 0) return 0;
  console.error(`waymark: the routes differ from ${args.check}`);
  return 1;
}

/** Removes line numbers, which change with every edit and do not affect what is public. */
function reviewable(text: string): string[] {
  return text
    .split("\n")
    .map((line) =>
      line
        .replace(/:\d+$/, "")
        .replaceAll(/\s{2,}/g, "  ")
        .trim(),
    )
    .filter((line) => line !== "" && !line.startsWith("#"));
}

import { existsSync, writeFileSync } from "node:fs";
import { dirname, relative, resolve } from "node:path";
import { NodeApplication } from "../application/node/node-application.ts";
import { prefixesOf } from "../application/options.ts";
import { manifestText } from "../build/manifest-text.ts";
import { discover } from "../routing/discover.ts";
import type { Arguments } from "./arguments.ts";
import { LauncherError } from "./launcher-error.ts";

/**
 * Writes the manifest: a module that imports every controller and contains their signatures. A bundler can follow its
 * imports, and startup needs neither sources nor a parser.
 */
export async function build(args: Arguments): Promise<number> {
  if (args.app !== undefined || args.manifest !== undefined)
    throw new LauncherError(
      '"waymark build" only supports --prefix: your own application can import the manifest',
      2,
    );
  const directory = resolve(args.dir);
  const prefixes = prefixesOf(
    args.prefix.length > 0 ? { controllerPrefix: args.prefix } : {},
    process.env.FRAMEWORK_PREFIX,
  );
  const { roots, origins } = await new NodeApplication({ controllerPrefix: prefixes, directory }).describe();
  const out = resolve(args.out ?? "waymark.manifest.ts");
  const text = manifestText(
    prefixes.map((prefix) => discover(prefix, directory)),
    roots,
    origins,
    out,
  );
  if (!existsSync(dirname(out))) throw new LauncherError(`--out=${args.out}: the folder does not exist`, 2);
  writeFileSync(out, text);
  console.error(`wrote ${relative(process.cwd(), out) || out}`);
  return 0;
}

/**
 * `npm run words`: checks names and prose against the list of forbidden words. Prints every match with better words and
 * exits with status 1.
 *
 *   npm run words                      checks everything except the pending paths of `tools/words.json`
 *   npm run words -- packages/waymark  checks one folder or file
 *   npm run words -- --count           prints the number of matches per folder, including the pending paths
 */
import { globSync, readFileSync, statSync } from "node:fs";
import { dirname, sep } from "node:path";
import { parseArgs } from "node:util";
import { type Match, matchesIn } from "./forbidden-words.ts";

const ROOTS = [
  ...["packages", "docs", "examples", "bench", "tools", "deploy", "website", ".ci/run", ".github"],
  ...["README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"],
];
const FILES = "**/*.{ts,tsx,mjs,py,md,json,yaml,yml,proto,sh}";

/** Dependencies, generated code, protocol files of other projects, and the list itself. */
const EXCLUDED = [
  "**/node_modules/**",
  "**/dist/**",
  "**/gen/**",
  "website/content/**",
  "**/package-lock.json",
  "packages/tollgate/proto/{envoy,google,grpc,ratelimit}/**",
  "tools/forbidden-words*.ts",
  "tools/words.json",
];

/** Paths that still contain forbidden words. */
const { pending } = JSON.parse(readFileSync(new URL("./words.json", import.meta.url), "utf8")) as {
  pending: readonly string[];
};

function check(path: string): Match[] {
  const files = statSync(path).isDirectory() ? globSync(`${path}/${FILES}`, { exclude: EXCLUDED }) : [path];
  return files.sort().flatMap((file) => matchesIn(file.split(sep).join("/"), readFileSync(file, "utf8")));
}

const isPending = ({ file }: Match): boolean =>
  pending.some((path) => file === path || file.startsWith(`${path}/`));

/** The first folders of a path: `packages/tollgate/src/rules`. */
const folderOf = ({ file }: Match): string => dirname(file).split("/").slice(0, 4).join("/");

const { values, positionals } = parseArgs({
  options: { count: { type: "boolean" } },
  allowPositionals: true,
});
if (values.count) {
  const counts = Map.groupBy(ROOTS.flatMap(check), folderOf);
  for (const [folder, matches] of [...counts].sort()) console.log(`${matches.length}\t${folder}`);
} else {
  const matches =
    positionals.length > 0
      ? positionals.flatMap(check)
      : ROOTS.flatMap(check).filter((match) => !isPending(match));
  for (const { file, line, text, instead } of matches)
    console.error(`${line === 0 ? file : `${file}:${line}`}: "${text}", use instead: ${instead}`);
  if (matches.length > 0) process.exitCode = 1;
}

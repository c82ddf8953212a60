import {
  existsSync,
  globSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import type { Language } from "./arguments.ts";
import { CreateError } from "./create-error.ts";

export interface Creation {
  readonly folder: string;
  readonly language: Language;
  /** The version of Waymark that the project depends on. */
  readonly version: string;
}

const TEMPLATE = fileURLToPath(new URL("../template", import.meta.url));

/** npm leaves hidden files out of a package, and the repository checks its own pages. */
const NAMES: Readonly<Record<string, string>> = {
  gitignore: ".gitignore",
  dockerignore: ".dockerignore",
  README: "README.md",
};

/** The name of the project in the templates. */
const NAME = /\bmy-api\b/g;
/** The version of Waymark in the templates. */
const VERSION = '"@tollway/waymark": "*"';

/** Files that do not count as content of a folder. */
const IGNORED: ReadonlySet<string> = new Set([".git", ".DS_Store"]);

/**
 * Writes the files of a new project.
 * @returns their paths within the folder, sorted
 * @throws {CreateError} if the folder has other files, or npm does not accept its name as a package name
 */
export function create({ folder, language, version }: Creation): string[] {
  const path = resolve(folder);
  refuseFull(path, folder);
  const name = packageName(path);
  const written: string[] = [];
  for (const source of [join(TEMPLATE, "shared"), join(TEMPLATE, language)]) {
    for (const file of globSync("**/*", { cwd: source })) {
      if (statSync(join(source, file)).isDirectory()) continue;
      const own = NAMES[file] ?? file;
      const text = readFileSync(join(source, file), "utf8")
        .replaceAll(NAME, name)
        .replace(VERSION, `"@tollway/waymark": "^${version}"`);
      mkdirSync(dirname(join(path, own)), { recursive: true });
      writeFileSync(join(path, own), text);
      written.push(own);
    }
  }
  return written.sort();
}

function refuseFull(path: string, shown: string): void {
  if (!existsSync(path)) return;
  if (!statSync(path).isDirectory()) throw new CreateError(`${shown} is a file: name a new or empty folder`);
  const [first] = readdirSync(path).filter((entry) => !IGNORED.has(entry));
  if (first !== undefined)
    throw new CreateError(`${shown} is not empty (it has ${first}): name a new or empty folder`);
}

/** The folder's name, if npm accepts it as the name of a package. */
function packageName(path: string): string {
  const name = basename(existsSync(path) ? realpathSync(path) : path);
  if (!/^[a-z0-9][a-z0-9._-]{0,213}$/.test(name) || name === "node_modules")
    throw new CreateError(
      `npm does not accept "${name}" as a package name: use lower-case letters, digits, "-", "." and "_", such as my-api`,
    );
  return name;
}

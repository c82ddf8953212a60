/** The examples in docstrings: where they are, and which exported functions and classes need one. */
import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

export interface Example {
  readonly file: string;
  readonly line: number;
  readonly code: string;
}

/** The fenced blocks after `@example` in the docstrings of a source. */
export function examplesOf(file: string, source: string): Example[] {
  const found = source.matchAll(
    /^( *)\* @example\n(?:\1\*[^\n]*\n)*?\1\* ```ts\n((?:\1\*[^\n]*\n)*?)\1\* ```$/gm,
  );
  return [...found].map(({ 2: lines = "", index }) => ({
    file,
    line: source.slice(0, index).split("\n").length,
    code: lines.replaceAll(/^ *\* ?/gm, ""),
  }));
}

/** All examples of the sources below a folder. */
export function examplesBelow(folder: string): Example[] {
  return globSync("**/*.ts", { cwd: folder }).flatMap((file) =>
    examplesOf(join(folder, file), readFileSync(join(folder, file), "utf8")),
  );
}

/** The modules that the `exports` of a package name. */
export function entryModules(folder: string): string[] {
  const { exports } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as { exports: object };
  const targets = Object.values(exports).map((target: string | { default: string }) =>
    typeof target === "string" ? target : target.default,
  );
  return targets.filter((target) => target.endsWith(".ts")).map((target) => join(folder, target));
}

/** The names of functions and classes that an entry point exports without an example in their docstring. */
export function namesWithoutExample(entry: string): string[] {
  const source = readFileSync(entry, "utf8");
  const exported = [...source.matchAll(/^export \{([^}]+)\} from "([^"]+)";$/gm)].flatMap(
    ([, names = "", module = ""]) =>
      names
        .split(",")
        .map((name) => ({ name: name.trim().split(" as ")[0]!, file: join(dirname(entry), module) })),
  );
  const own = [...source.matchAll(/^export (?:async )?(?:function\*?|class) (\w+)/gm)].map(
    ([, name = ""]) => ({
      name,
      file: entry,
    }),
  );
  return [...exported, ...own].flatMap(({ name, file }) =>
    hasExample(file, name) ? [] : [`${name} of ${file}`],
  );
}

/** True also for a name that is neither a function nor a class. */
function hasExample(file: string, name: string): boolean {
  if (!existsSync(file)) return false;
  const source = readFileSync(file, "utf8");
  const declared = new RegExp(`^export (?:async )?(?:function\\*?|class) ${name}\\b`, "m").exec(source);
  if (declared === null) return true;
  const before = source.slice(0, declared.index);
  return before.endsWith("*/\n") && before.slice(before.lastIndexOf("/**")).includes("\n * @example\n");
}

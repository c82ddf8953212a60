import { type ParseArgsConfig, parseArgs } from "node:util";
import { CreateError } from "./create-error.ts";

export type Language = "typescript" | "javascript";

/** The parsed command line. */
export interface Arguments {
  readonly folder: string | undefined;
  readonly language: Language;
  readonly help: boolean;
  readonly version: boolean;
}

const OPTIONS = {
  typescript: { type: "boolean" },
  javascript: { type: "boolean" },
  help: { type: "boolean", short: "h" },
  version: { type: "boolean", short: "v" },
} as const satisfies ParseArgsConfig["options"];

export const USAGE = `usage: npm create @tollway/waymark FOLDER [-- --javascript]

  FOLDER         a new or empty folder; "." is the working directory
  --typescript   controllers in TypeScript (default)
  --javascript   controllers in JavaScript, with types in JSDoc
  --version, --help`;

export function readArguments(args: readonly string[]): Arguments {
  // npm removes the `--` before options. Other package managers pass it on.
  const { values, positionals } = parse(args.filter((arg) => arg !== "--"));
  const [folder, ...rest] = positionals;
  if (rest.length > 0) throw new CreateError(`"${rest[0]}" is an unexpected argument\n${USAGE}`);
  if (values.typescript && values.javascript)
    throw new CreateError("--typescript and --javascript exclude each other");
  return {
    folder,
    language: values.javascript ? "javascript" : "typescript",
    help: values.help ?? false,
    version: values.version ?? false,
  };
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options: OPTIONS, allowPositionals: true });
  } catch (error) {
    throw new CreateError(`${(error as Error).message.split(". ")[0]}\n${USAGE}`);
  }
}

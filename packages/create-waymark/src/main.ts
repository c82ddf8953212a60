import { readFileSync } from "node:fs";
import { type Arguments, readArguments, USAGE } from "./arguments.ts";
import { create } from "./create.ts";
import { CreateError } from "./create-error.ts";

/** The command `create-waymark`, which `npm create @tollway/waymark` runs. Returns its exit status. */
export function main(args: readonly string[], environment: NodeJS.ProcessEnv): number {
  try {
    return run(readArguments(args), environment);
  } catch (error) {
    const expected = error instanceof CreateError || (error as NodeJS.ErrnoException).code !== undefined;
    console.error(expected ? `create-waymark: ${(error as Error).message}` : error);
    return error instanceof CreateError ? 2 : 1;
  }
}

function run({ folder, language, help, version }: Arguments, environment: NodeJS.ProcessEnv): number {
  if (help) return print(USAGE);
  if (version) return print(ownVersion());
  if (folder === undefined) throw new CreateError(`name the folder of the new project\n${USAGE}`);
  const files = create({ folder, language, version: ownVersion() });
  return print(
    [`Created ${folder}:`, ...files.map((file) => `  ${file}`), "", ...nextSteps(folder, environment)].join(
      "\n",
    ),
  );
}

function nextSteps(folder: string, environment: NodeJS.ProcessEnv): string[] {
  const manager = managerOf(environment);
  return [
    "Next:",
    ...(folder === "." ? [] : [`  cd ${folder}`]),
    `  ${manager} install`,
    `  ${manager} run dev`,
  ];
}

const MANAGERS: ReadonlySet<string> = new Set(["npm", "pnpm", "yarn", "bun"]);

/** The package manager that runs this command. Each sets the variable, such as to `pnpm/12.21.0 npm/? ...`. */
function managerOf({ npm_config_user_agent: agent = "" }: NodeJS.ProcessEnv): string {
  const name = agent.slice(0, agent.indexOf("/"));
  return MANAGERS.has(name) ? name : "npm";
}

/** Waymark and this package are released with the same version. */
function ownVersion(): string {
  const url = new URL("../package.json", import.meta.url);
  return (JSON.parse(readFileSync(url, "utf8")) as { version: string }).version;
}

function print(text: string): number {
  process.stdout.write(`${text}\n`);
  return 0;
}

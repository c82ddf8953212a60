import { availableParallelism } from "node:os";
import { type ParseArgsConfig, parseArgs } from "node:util";
import { TARGETS, type TargetName } from "../build/targets.ts";
import { LauncherError } from "./launcher-error.ts";

export type Command = "serve" | "routes" | "openapi" | "types" | "check" | "build" | "python-path" | "bridge";
export type Interface = "node" | "wsgi" | "asgi";

/** The parsed command line. */
export interface Arguments {
  readonly command: Command;
  readonly prefix: readonly string[];
  readonly dir: string;
  readonly app: string | undefined;
  readonly manifest: string | undefined;
  readonly host: string;
  readonly interface: Interface;
  readonly workers: number;
  readonly watch: boolean;
  readonly debug: boolean;
  readonly quiet: boolean;
  readonly check: string | undefined;
  readonly out: string | undefined;
  /** The declaration file that a watched server keeps up to date. */
  readonly types: string | undefined;
  /** The file for the client's table. */
  readonly table: string | undefined;
  /** Whether the declaration file describes all types itself. */
  readonly standalone: boolean;
  /** For "waymark build": the runtime of the bundle. */
  readonly target: TargetName | undefined;
  /** Whether a worker is deployed with the modules of Node. */
  readonly nodeCompat: boolean;
  /** For "waymark openapi": the version of OpenAPI. */
  readonly spec: "3.1" | "3.2" | undefined;
  /** For "waymark bridge": the descriptor whose other end the Python server holds. */
  readonly lifeline: string | undefined;
  readonly help: boolean;
  readonly version: boolean;
}

const OPTIONS = {
  prefix: { type: "string", multiple: true },
  dir: { type: "string" },
  app: { type: "string" },
  manifest: { type: "string" },
  host: { type: "string" },
  interface: { type: "string" },
  workers: { type: "string" },
  watch: { type: "boolean" },
  debug: { type: "boolean" },
  quiet: { type: "boolean" },
  check: { type: "string" },
  out: { type: "string" },
  types: { type: "string" },
  table: { type: "string" },
  standalone: { type: "boolean" },
  target: { type: "string" },
  "node-compat": { type: "boolean" },
  spec: { type: "string" },
  lifeline: { type: "string" },
  help: { type: "boolean", short: "h" },
  version: { type: "boolean", short: "v" },
} as const satisfies ParseArgsConfig["options"];

const COMMANDS: ReadonlySet<string> = new Set([
  "serve",
  "routes",
  "openapi",
  "check",
  "types",
  "build",
  "python-path",
  "bridge",
]);
/** `bridge` is for the Python package. */
const SHOWN = [...COMMANDS].filter((command) => command !== "bridge");
/** Options that are valid only for certain commands. */
const ONLY_FOR: Readonly<Record<string, readonly Command[]>> = {
  host: ["serve"],
  interface: ["serve"],
  workers: ["serve"],
  watch: ["serve"],
  quiet: ["serve"],
  debug: ["serve"],
  check: ["routes"],
  out: ["build", "openapi", "types"],
  types: ["serve"],
  table: ["types", "serve"],
  standalone: ["types"],
  target: ["build"],
  "node-compat": ["build"],
  spec: ["openapi"],
  lifeline: ["bridge"],
};

export const USAGE = `usage: waymark [serve] [options]         serve the controllers
       waymark routes [--check=FILE]     print all routes, or compare them with a reviewed file
       waymark openapi [--out=FILE]      print the OpenAPI document
       waymark check                     read all signatures, and compare them with TypeScript's compiler
       waymark types [--out=FILE]        write the declaration file for the typed client
       waymark build [--out=FILE]        write a manifest, for bundles and starts without a parser
       waymark build --target=NAME       write one file with everything for a runtime, from --app or --prefix
       waymark python-path               print the folder of the Python package, for PYTHONPATH

  --prefix=MODULE     dotted module path of the controllers; may be repeated (FRAMEWORK_PREFIX; default: controllers)
  --dir=FOLDER        the folder that the prefix is relative to (default: the working directory)
  --app=FILE          a module that exports "application" (WAYMARK_APP)
  --manifest=FILE     start from the output of "waymark build"
  --host=HOST:PORT    default localhost:8000; :8000 listens on all interfaces, port 0 picks a free port
  --interface=NAME    serve through node (default), wsgi or asgi
  --workers=N         number of processes; "max" for one per core
  --watch             reload controllers that change, restart when another file changes
  --types=FILE        with --watch: keep the declaration file of "waymark types" up to date
  --table=FILE        with "types" and --watch: write what the client needs at run time
  --standalone        with "types": a declaration file for other repositories
  --target=NAME       with "build": node, bun, deno, worker, lambda or lambda-stream
  --node-compat       with "build --target=worker": the worker is deployed with nodejs_compat
  --spec=3.2          with "openapi": the version of OpenAPI (default 3.1)
  --debug             include errors and their stacks in 500 answers
  --quiet             do not print the routes
  --version, --help`;

/** Parses the command line. Environment variables supply missing options. */
export function readArguments(args: readonly string[], environment: NodeJS.ProcessEnv): Arguments {
  const { values, positionals } = parse(args);
  const [command = "serve", ...rest] = positionals;
  if (!COMMANDS.has(command))
    throw new LauncherError(`unknown command "${command}": the commands are ${SHOWN.join(", ")}`, 2);
  if (rest.length > 0)
    throw new LauncherError(`"${rest[0]}" is an unexpected argument: waymark --help shows the options`, 2);
  for (const name of Object.keys(values)) {
    const only = ONLY_FOR[name];
    if (only !== undefined && !only.includes(command as Command))
      throw new LauncherError(
        `--${name} is an option of "waymark ${only[0]}", not of "waymark ${command}"`,
        2,
      );
  }
  const prefix = values.prefix ?? [];
  const app = values.app ?? (prefix.length === 0 && !values.manifest ? environment.WAYMARK_APP : undefined);
  const sources = [prefix.length > 0 && "--prefix", app && "--app", values.manifest && "--manifest"].filter(
    Boolean,
  );
  if (sources.length > 1)
    throw new LauncherError(
      `${sources.join(" and ")} exclude each other: an application sets its own prefix`,
      2,
    );
  if (command === "serve" && (values.types ?? values.table) !== undefined && !values.watch)
    throw new LauncherError('--types and --table need --watch: without it, run "waymark types"', 2);
  return {
    command: command as Command,
    prefix: prefix.flatMap((each) => each.split(",")),
    dir: values.dir ?? ".",
    app: app || undefined,
    manifest: values.manifest,
    host: values.host ?? "localhost:8000",
    interface: interfaceOf(values.interface ?? "node"),
    workers: workerCount(values.workers),
    watch: values.watch ?? false,
    debug: values.debug ?? false,
    quiet: values.quiet ?? false,
    check: values.check,
    out: values.out,
    types: values.types,
    table: values.table,
    standalone: values.standalone ?? false,
    target: targetOf(values.target),
    nodeCompat: values["node-compat"] ?? false,
    spec: specOf(values.spec),
    lifeline: values.lifeline,
    help: values.help ?? false,
    version: values.version ?? false,
  };
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options: OPTIONS, allowPositionals: true });
  } catch (error) {
    throw new LauncherError(`${(error as Error).message.split(". ")[0]}\n${USAGE}`, 2);
  }
}

function specOf(text: string | undefined): "3.1" | "3.2" | undefined {
  if (text === undefined || text === "3.1" || text === "3.2") return text;
  throw new LauncherError(`--spec=${text}: unknown version of OpenAPI; use 3.1 or 3.2`, 2);
}

function interfaceOf(name: string): Interface {
  if (name === "node" || name === "wsgi" || name === "asgi") return name;
  throw new LauncherError(`--interface=${name}: unknown interface; use node, wsgi or asgi`, 2);
}

function targetOf(name: string | undefined): TargetName | undefined {
  if (name === undefined) return undefined;
  if (Object.hasOwn(TARGETS, name)) return name as TargetName;
  throw new LauncherError(`--target=${name}: unknown target; use ${Object.keys(TARGETS).join(", ")}`, 2);
}

function workerCount(text: string | undefined): number {
  if (text === undefined) return 1;
  if (text === "max" || text === "auto") return availableParallelism();
  const count = Number(text);
  if (!/^\d+$/.test(text) || count < 1 || count > 1024)
    throw new LauncherError(`--workers=${text} must be a number of processes from 1 to 1024, or "max"`, 2);
  return count;
}
